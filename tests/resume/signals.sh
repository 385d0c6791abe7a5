#!/bin/bash
# SIGINT, SIGTERM and SIGHUP end a run in good order: the update is finished, last.safetensors saved, exit code 130, 143 or 129, and the run goes on to the same
# bytes as one that was never stopped.
. "$CAIRN_SOURCE/tests/support/cli.sh"
digits digits 40
train=("$CAIRN" train digits "${quick[@]}" --epochs 3 --report-every 1 --deterministic)
passes "${train[@]}" --run whole

# Starts a run, sends the signal once it has made a few updates, and leaves its exit code in $code. A run under a shell's & ignores SIGINT,
# so it is started with the signals as they were.
stopped_by()
{
    local signal=$1 folder=$2 process
    env --default-signal=INT "${train[@]}" --run "$folder" >/dev/null 2>"$folder.err" &
    process=$!
    for _ in $(seq 600); do
        [ "$(wc -l 2>/dev/null <"$folder/metrics.jsonl")" -ge 3 ] 2>/dev/null && break
        sleep 0.05
    done
    kill -s "$signal" $process
    wait $process
    code=$?
}

for case in "INT 130" "TERM 143" "HUP 129"; do
    read -r signal want <<<"$case"
    stopped_by "$signal" "run-$signal"
    # A run that was done before the signal came proves nothing, but it is no failure either.
    [ "$code" = "$want" ] || [ "$code" = 0 ] || fail "SIG$signal: exit code $code, want $want: $(cat "run-$signal.err")"
    [ "$code" = 0 ] && echo "SIG$signal came after the end of the run"
    [ -s "run-$signal/last.safetensors" ] || fail "SIG$signal: nothing saved"
    [ "$code" = 0 ] || contains "$(cat "run-$signal.err")" "--resume run-$signal"
    [ "$code" = 0 ] || passes "$CAIRN" train --resume "run-$signal"
    [ "$code" = 0 ] || contains "$(cat "run-$signal/log.txt")" "all since the resume"
    cmp "run-$signal/last.safetensors" whole/last.safetensors || fail "SIG$signal: the resumed run ended otherwise"
    cmp "run-$signal/best.safetensors" whole/best.safetensors || fail "SIG$signal: the resumed run kept another best"
    contains "$(cat "run-$signal/manifest.json")" '"status": "finished"'
    # Then there is nothing left to do, and the record stays as it is.
    cp "run-$signal/manifest.json" manifest-before
    expect 2 "that run is finished" "$CAIRN" train --resume "run-$signal"
    cmp "run-$signal/manifest.json" manifest-before || fail "SIG$signal: a finished run's manifest was written over"
done
finish
