# --precision: what a device can't is refused with its reason; what it can is named wherever a run is told of, and kept when it goes on.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
digits digits 6

expect 2 "--precision fp8" "$CAIRN" train digits "${quick[@]}" --precision fp8
expect 2 "auto, fp32, tf32, bf16" "$CAIRN" bench --precision half
expect_only 3 "--precision fp16: cpu" "$CAIRN" train digits "${quick[@]}" --device cpu --precision fp16 --run refused
expect_only 3 "--precision tf32: cpu" "$CAIRN" train digits "${quick[@]}" --device cpu --precision tf32 --run refused
[ -e refused ] && fail "a refused precision left a run folder"
expect 3 "--precision tf32: ref" "$CAIRN" bench --device ref --model lenet --precision tf32
expect 2 "--kernels mine" "$CAIRN" bench --kernels mine

# auto on ref: it isn't made for speed, so nothing is timed.
small=("${quick[@]}" --device ref --width-divisor 4 --report-every 2)
passes "$CAIRN" train digits "${small[@]}" --run auto
contains "$err" "precision fp32: ref is not made for speed"
contains "$err" "ref fp32 | epoch 1/1"

for precision in bf16 fp16; do
    passes "$CAIRN" train digits "${small[@]}" --precision $precision --epochs 2 --run $precision
    contains "$err" "precision $precision"
    contains "$err" "ref $precision | epoch 1/2"
    contains "$(cat $precision/config)" "precision = $precision"
    contains "$(cat $precision/manifest.json)" "\"precision\": \"$precision\""
    contains "$(cat $precision/manifest.json)" "precision=$precision"
    passes "$CAIRN" eval $precision digits --device cpu # its weights are fp32, and so is a net that uses them
done
contains "$(cat fp16/metrics.jsonl)" '"loss_scale":'
contains "$(cat fp16/metrics.jsonl)" '"skipped":'
lacks "$(cat bf16/metrics.jsonl)" '"loss_scale":'

# A run goes on in its precision, unless another is asked for: that is told.
passes "$CAIRN" train --resume bf16 --epochs 3
contains "$err" "precision bf16"
passes "$CAIRN" train --resume fp16 --epochs 3 --precision fp32
contains "$err" "precision fp32, was fp16"

passes "$CAIRN" bench --device ref --model lenet --width-divisor 4 --batch 4 --steps 1 --precision fp16 --json
same "$(json precision)" fp16
finish
