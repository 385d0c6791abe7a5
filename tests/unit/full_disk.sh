#!/bin/bash
# A write that runs out of room fails with the system's reason, leaves the old file as it was and no half of a new one. The room is a limit
# on the size of files, which every system has without root; the signal that comes with it is ignored, as a full disk sends none.
set -euo pipefail
folder=$CAIRN_BUILD/tests/scratch/full_disk
rm -rf "$folder"
mkdir -p "$folder"
printf 'old content' >"$folder/file"
trap '' XFSZ
(ulimit -f 256 && "$CAIRN_BUILD/tests/bin/test_unit_atomic_file" "$folder/file") >"$CAIRN_BUILD/tests/scratch/full_disk.txt"
cat "$CAIRN_BUILD/tests/scratch/full_disk.txt"
grep -q "^file: .*/file: can't be written: File too large" "$CAIRN_BUILD/tests/scratch/full_disk.txt"
grep -q "not replaced, because an earlier write failed" "$CAIRN_BUILD/tests/scratch/full_disk.txt"
[ "$(cat "$folder/file")" = 'old content' ]
[ "$(ls "$folder")" = file ]
