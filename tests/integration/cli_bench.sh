# bench and model: the figures are there and agree with each other. No time is judged.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"

passes "$CAIRN" model --model lenet --classes 10 --batch 4 --threads 1
contains "$out" "conv1"
contains "$out" "fc4"
for divisor in 8 2; do
    passes "$CAIRN" model --preset paper --width-divisor $divisor --batch 1 --threads 1
    contains "$out" "conv5"
    awk 'length > 80 { exit 1 }' <<<"$out" || fail "a line of the table is longer than 80 columns: $out"
done
expect_only 5 "out of memory" "$CAIRN" model --model lenet --batch 4096 --memory-limit 10M

passes "$CAIRN" bench --model lenet --batch 8 --steps 3 --untimed 1 --threads 1
contains "$out" "images/s"
contains "$out" "backward"
contains "$err" "lenet, batch 8, sgd, dropout 0"
passes "$CAIRN" bench --model lenet --batch 8 --steps 3 --untimed 1 --threads 1 --optimizer adam --dropout 0.5 --json
holds "($(json images_per_second) - 8000 / $(json ms)) ^ 2 < (0.02 * $(json images_per_second)) ^ 2"
holds "$(json gflops) > 0 && $(json peak_share) >= 0 && $(json first_update_seconds) > 0 && $(json resident_bytes) > 1e6"
same "$(json dropout) $(json optimizer) $(json batch)" "0.5 adam 8"
same "$(json losses.length)" 1
same "$(json model) $(json classes) $(json width_divisor)" "lenet 1000 0"
passes "$CAIRN" bench --width-divisor 8 --classes 10 --batch 1 --steps 1 --untimed 1 --threads 1 --json
same "$(json model) $(json preset) $(json classes) $(json width_divisor)" "alexnet owt 10 8"
finish
