# Exit codes that need a run under way: 130 and 143 when it is asked to stop, 6 when numbers are no longer finite, 5 out of memory.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
digits digits 12

# The first signal ends the update, saves, and the run can go on; without a device of its own to wait for, the log tells when it is under way.
stopped()
{
    local signal=$1 want=$2 run=run-$1 pid
    "$CAIRN" train digits "${quick[@]}" --epochs 100000 --report-every 1 --run "$run" >stopped.out 2>stopped.err </dev/null &
    pid=$!
    for _ in $(seq 600); do
        [ -s "$run/metrics.jsonl" ] && break
        sleep 0.1
    done
    # Nobody else may write into the folder meanwhile.
    expect 7 "in use by process $pid" "$CAIRN" train digits "${quick[@]}" --run "$run"
    kill -"$signal" "$pid"
    wait "$pid"
    same "$?" "$want"
    contains "$(tail -n 1 stopped.err)" "--resume $run"
    [ -s "$run/last.safetensors" ] || fail "$signal: nothing is saved"
    passes "$CAIRN" predict "$run" digits/3/0001.png
}
stopped INT 130
stopped TERM 143

# Two that start in one second have a folder each.
for i in 1 2 3; do
    "$CAIRN" train digits "${quick[@]}" >"started-$i" 2>&1 </dev/null &
done
wait
same "$(ls runs | wc -l)" 3
for i in runs/*; do
    [ -s "$i/best.safetensors" ] || fail "$i: nothing in it: $(cat started-*)"
    [ -e "$i/lock" ] && fail "$i: still locked"
done

expect 6 "not finite" "$CAIRN" train digits "${quick[@]}" --optimizer sgd --learning-rate 100 --warmup 0 --epochs 5 --run wild
# Out of memory comes with the passes that would fit, optimizer included; and they do.
expect 5 "not even a picture at a time fits" "$CAIRN" train digits "${quick[@]}" --memory-limit 3M --run tight
expect 5 "--micro-batch" "$CAIRN" train digits "${quick[@]}" --batch 96 --memory-limit 16M --run tight
fits=$(sed -n 's/.*--micro-batch \([0-9]*\) fits.*/\1/p' .err)
passes "$CAIRN" train digits "${quick[@]}" --batch 96 --memory-limit 16M --run tight --micro-batch "$fits"
# Who holds what: of a run under way, and of one that memory ran out for; a file that can't be written is refused.
passes "$CAIRN" train digits "${quick[@]}" --run held --memory-snapshot held.json
grep -q '"holder": "weights"' held.json && grep -q '"holder": "gradients"' held.json || fail "the snapshot doesn't name its holders"
expect 5 "out of memory" "$CAIRN" train digits "${quick[@]}" --memory-limit 3M --run tighter --memory-snapshot tight.json
grep -q '"limit": 3000000' tight.json || fail "the snapshot of a failure lacks the limit"
expect_only 7 "--memory-snapshot nowhere/held.json: nowhere: " "$CAIRN" train digits "${quick[@]}" --run unheld --memory-snapshot nowhere/held.json
[ -e unheld ] && fail "a run is begun that can't write its snapshot"
expect 2 "ref" "$CAIRN" predict run-INT digits/3/0001.png --device tpu
finish
