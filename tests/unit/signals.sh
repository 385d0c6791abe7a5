#!/bin/bash
# A second signal ends the process at once, with 128 + its number.
set -euo pipefail
program=$CAIRN_BUILD/tests/bin/test_unit_os
for number in 2 15; do
    code=0
    "$program" "$number" || code=$?
    [ "$code" -eq $((128 + number)) ] || { echo "FAILED: signal $number twice gave exit $code"; exit 1; }
done
