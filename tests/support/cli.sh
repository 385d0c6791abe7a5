# cli.sh - what the tests of the program share. Sourced; then every line is a check:
#
#     expect 2 "did you mean --batch" "$CAIRN" train --bacth 3 photos     exit code, a part of its one line on stderr, the command
#     passes "$CAIRN" --help                                              exit code 0; "$out" and "$err" hold what it said
#     finish
#
# The test runs in a scratch folder that is removed at its end.
set -uo pipefail
: "${CAIRN:?the program to test}" "${CAIRN_BUILD:?its build folder}" "${CAIRN_SOURCE:?the source folder}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export NO_COLOR=1
unset TERM
failures=0

fail()
{
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# One value of the JSON that the last command wrote to stdout, as tests/tools/json_value.c picks it.
json()
{
    "$CAIRN_BUILD/tests/bin/json_value" "$scratch/.out" "$1"
}

# Fails unless the arithmetic expression is true (awk's syntax).
holds()
{
    awk "BEGIN { exit !($1) }" </dev/null || fail "not so: $1"
}

# Runs a command; leaves its exit code in $code, its stdout in $out and its stderr in $err.
run()
{
    "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null
    code=$?
    out=$(tr -d '\0' <"$scratch/.out")
    err=$(tr -d '\0' <"$scratch/.err")
}

passes()
{
    run "$@"
    [ "$code" = 0 ] || fail "$*: exit code $code: $err"
}

# The last line on stderr is the error: "cairn: ..." with the text in it, and it is one line.
expect()
{
    local want=$1 text=$2 last
    shift 2
    run "$@"
    last=$(tail -n 1 "$scratch/.err")
    [ "$code" = "$want" ] || fail "$*: exit code $code, want $want: $err"
    [[ $last == "cairn: "*"$text"* ]] || fail "$*: said \"$last\", want \"$text\" in it"
}

# As expect, and the error is all there is on stderr.
expect_only()
{
    expect "$@"
    [ "$(wc -l <"$scratch/.err")" = 1 ] || fail "${*:3}: more than one line: $err"
}

contains()
{
    [[ $1 == *"$2"* ]] || fail "\"$2\" is missing in: $1"
}

lacks()
{
    [[ $1 != *"$2"* ]] || fail "\"$2\" stands in: $1"
}

same()
{
    [ "$1" = "$2" ] || fail "\"$1\" is not \"$2\""
}

# Digits to train on: `digits FOLDER EACH`.
digits()
{
    "$CAIRN_BUILD/samples/unpack_digits" "$CAIRN_SOURCE/samples/data/digits.png" "$1" "$2" >/dev/null ||
        fail "unpack_digits $1 $2"
}

# A net that trains in a moment: LeNet on few digits, on one thread so that nothing depends on the machine.
quick=(--model lenet --epochs 1 --batch 16 --threads 1 --loader-threads 1)

finish()
{
    [ "$failures" = 0 ] && echo ok
    exit $((failures > 0))
}
