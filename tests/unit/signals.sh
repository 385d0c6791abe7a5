#!/bin/bash
# The first signal is noted, by a thread that takes only signals; a second one ends the process at once, with 128 + its number.
set -euo pipefail
said=$(mktemp)
trap 'rm -f "$said"' EXIT

until_said()
{
    for _ in $(seq 500); do
        grep -q "$1" "$said" && return
        sleep 0.02
    done
    echo "FAILED: never said '$1': $(cat "$said")"
    exit 1
}

for number in 1 2 15; do
    # Started in the background a process ignores SIGINT, so it gets the signals as they were.
    env --default-signal=INT "$CAIRN_BUILD/tests/bin/test_unit_os" wait >"$said" &
    process=$!
    until_said ready
    kill -s "$number" $process
    until_said "noted $number"
    kill -s "$number" $process
    code=0
    wait $process || code=$?
    [ "$code" -eq $((128 + number)) ] || { echo "FAILED: signal $number twice gave exit $code"; exit 1; }
done
