# Help and versions: there for the asking, on stdout, with an example, at 80 columns.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"

passes "$CAIRN" --help
for command in train eval predict model bench "data check"; do
    contains "$out" "  $command"
done
contains "$out" "Exit codes"
help=$out
passes "$CAIRN" help
same "$out" "$help"
passes "$CAIRN" -h
same "$out" "$help"

for command in train eval predict model bench "data check"; do
    passes "$CAIRN" $command --help
    same "$err" ""
    contains "$out" "Example"
    contains "$out" "  cairn $command"
    contains "$out" "--config FILE"
    page=$out
    awk 'length > 80 { exit 1 }' <<<"$page" || fail "$command --help: a line is longer than 80 columns"
    passes "$CAIRN" help $command
    same "$out" "$page"
    # Asking for help wins over whatever else is wrong.
    passes "$CAIRN" $command --no-such-option --help
    same "$(head -n 1 <<<"$out")" "$(head -n 1 <<<"$page")"
done

# The first word of a command of two is enough for that.
passes "$CAIRN" data --help
contains "$out" "cairn data check FOLDER"

# Every option of a command stands in its help, and every default that is shown is one that the option takes.
passes "$CAIRN" train --help
while read -r option value; do
    expect 4 "no-such-folder" "$CAIRN" train no-such-folder "$option" "$value"
done < <(tr '\n' ' ' <<<"$out" | sed 's/  --/\n--/g' | sed -n 's/^\(--[a-z0-9-]*\) [A-Z].*\[\([^]]*\)\].*/\1 \2/p')

passes "$CAIRN" --version
contains "$out" "cairn "
contains "$out" "device cpu: "
contains "$out" "oneDNN"
contains "$out" "device ref: "
contains "$out" "pictures: "
finish
