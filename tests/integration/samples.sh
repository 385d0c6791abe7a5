# The samples run, and the last one trains AlexNet (narrow, so that it is quick) on digits that another one unpacked.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
samples=$CAIRN_BUILD/samples

for sample in 01_tensor 02_one_layer 03_train_small; do
    passes "$samples/$sample"
    [ -n "$out" ] || fail "$sample says nothing"
done
passes "$samples/unpack_digits" "$CAIRN_SOURCE/samples/data/digits.png" digits 10
same "$(find digits -name '*.png' | wc -l)" 100
same "$(ls digits | tr '\n' ' ')" "0 1 2 3 4 5 6 7 8 9 "
run "$samples/unpack_digits" missing.png digits
[ "$code" = 1 ] || fail "unpack_digits takes a missing sheet"
contains "$err" "missing.png"
passes "$samples/04_alexnet" digits 1 8
contains "$out" "trained: "
same "$(grep -c 'digits/' <<<"$out")" 10

# They teach, so they stay short, and include nothing of Cairn but its one header.
for file in "$CAIRN_SOURCE"/samples/*.c; do
    [ "$(wc -l <"$file")" -lt 150 ] || fail "$file has 150 lines or more"
    grep '#include "' "$file" | grep -qv '"cairn.h"' && fail "$file includes more than cairn.h"
done
finish
