# Faults seeded into the doubles, one at a time, are found by the tests that run without them.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
operations=$CAIRN_BUILD/tests/bin/test_gpusim_three_operations

# found FAULT "TEXT": an operation doesn't agree with ref when the fault is there, and the test says so.
found()
{
    run env GPUSIM_FAULT="$1" "$operations"
    [ "$code" = 1 ] || fail "$1: exit code $code"
    contains "$out" "$2"
}

passes "$operations"
found forgotten_tail "FAILED relu_of_several_blocks"
found forgotten_beta "FAILED accumulating_linear"
found swapped_group "FAILED grouped_convolution"

# Without a wait between the copy of the pictures and the step that reads them, some seed gives another training.
digits digits 12
train=("$CAIRN" train digits "${quick[@]}" --device cuda --deterministic)
trained()
{
    rm -rf run
    run env "$@" "${train[@]}" --run run
    echo "$code $(sed -n 's/.*"loss":\([^,]*\).*/\1/p' run/metrics.jsonl | tr '\n' ' ')"
}
right=$(trained GPUSIM_SEED=1)
wrong=0
for seed in 1 2 3 4; do
    same "$(trained GPUSIM_SEED=$seed)" "$right"
    [ "$(trained GPUSIM_SEED=$seed GPUSIM_FAULT=forgotten_wait)" = "$right" ] || wrong=$((wrong + 1))
done
echo "forgotten_wait: seen under $wrong of 4 seeds"
holds "$wrong > 0"
finish
