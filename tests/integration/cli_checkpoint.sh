# Checkpoints and run folders that are not what they should be: exit code 7, one line, and what was there stays.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
digits digits 12
passes "$CAIRN" train digits "${quick[@]}" --run run
passes "$CAIRN" train digits "${quick[@]}" --run other --width-divisor 2

# A file that is none, is cut short, or has a changed byte.
head -c 1000 run/last.safetensors >cut.safetensors
size=$(wc -c <run/last.safetensors)
head -c $((size - 1)) run/last.safetensors >short.safetensors
{ head -c $((size - 100)) run/last.safetensors; printf 'x'; tail -c 99 run/last.safetensors; } >changed.safetensors
: >empty.safetensors
mkdir nothing
for file in cut short changed empty; do
    expect_only 7 "$file.safetensors" "$CAIRN" predict $file.safetensors digits/3/0001.png
    expect_only 7 "$file.safetensors" "$CAIRN" eval $file.safetensors digits
    expect_only 7 "$file.safetensors" "$CAIRN" train digits "${quick[@]}" --resume $file.safetensors --run resumed-$file
done
expect_only 7 "short.safetensors: truncated: it has $((size - 1)) of the $size bytes" "$CAIRN" predict short.safetensors digits/3/0001.png
expect_only 7 "copy it again" "$CAIRN" predict changed.safetensors digits/3/0001.png
expect_only 7 "digits/3/0001.png" "$CAIRN" predict digits/3/0001.png digits/3/0002.png
expect_only 7 "missing: no such file; a run folder or a .safetensors file" "$CAIRN" predict missing digits/3/0001.png
expect_only 7 "nothing: no checkpoint in this folder" "$CAIRN" predict nothing digits/3/0001.png

# A run can't go on with another model's weights, and is told which.
before=$(sha256sum other/last.safetensors)
expect_only 7 "--resume other: it was trained with --width-divisor 2" "$CAIRN" train --resume other --epochs 2 --width-divisor 4
same "$(sha256sum other/last.safetensors)" "$before"

# Classes that the net wasn't trained on.
mkdir -p strange/cat strange/dog
cp digits/1/*.png strange/cat/ && cp digits/2/*.png strange/dog/
expect 4 "cat" "$CAIRN" eval run strange

# Run folders that can't be written, or hold a run already.
touch file
expect 7 "file" "$CAIRN" train digits "${quick[@]}" --run file/run
expect 7 "/proc/cairn" "$CAIRN" train digits "${quick[@]}" --run /proc/cairn
expect 7 "run" "$CAIRN" train digits "${quick[@]}" --run run
mkdir -m 555 readonly
someone=("$CAIRN")
[ "$(id -u)" = 0 ] && chmod 755 . && someone=(setpriv --reuid=65534 --regid=65534 --clear-groups "$CAIRN")
if "${someone[@]}" --version >/dev/null 2>&1; then
    expect 7 "readonly/x: folder can't be made: Permission denied: choose another with --run" \
        "${someone[@]}" train digits "${quick[@]}" --plan-cache none --run readonly/x
else
    echo "not tried: an unwritable folder, since a user without root's rights can't run $CAIRN here"
fi

# A disk that is full when the checkpoint is saved: the limit on a file's size stands for it.
full() { (ulimit -f 200 && trap '' XFSZ && "$@"); }
expect 7 "safetensors" full "$CAIRN" train digits "${quick[@]}" --run full
[ -e full/config ] || fail "the run folder was not kept"
ls full/*.tmp* full/.*safetensors* 2>/dev/null && fail "a half-written file is left behind"
cp -r run before
expect 7 "safetensors" full "$CAIRN" train --resume run --epochs 2
cmp run/last.safetensors before/last.safetensors || fail "the old checkpoint is lost"
# What can't be gone on from is named with what is missing in it, and only ways out that work are.
mkdir hollow && : >hollow.safetensors
expect_only 7 "hollow: there is no last.safetensors in it" "$CAIRN" train --resume hollow
expect_only 7 "hollow.safetensors: " "$CAIRN" train --resume hollow.safetensors
mkdir unsaved && echo x >unsaved/best.safetensors
expect_only 7 "no last.safetensors to go on from" "$CAIRN" train digits "${quick[@]}" --run unsaved
lacks "$err" "--resume"

# Pictures that were moved: the way out is named, and works.
cp -r digits here && passes "$CAIRN" train here "${quick[@]}" --run moved && mv here there
expect_only 4 "cairn train NEWFOLDER --resume moved" "$CAIRN" train --resume moved --epochs 2
passes "$CAIRN" train there --resume moved --epochs 2
contains "$err" "2 epochs, "
contains "$err" "; since the resume "
finish
