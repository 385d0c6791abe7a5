# What goes where: data to stdout, talk to stderr, colours on a terminal only and never with NO_COLOR.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
digits digits 12

passes "$CAIRN" train digits "${quick[@]}" --run run
same "$out" "run/best.safetensors"
contains "$err" "conv1"
contains "$err" "loss"
contains "$err" "run folder: run"
log=$(cat run/log.txt)
contains "$log" "info: epoch 1/1"
contains "$(tail -n 1 run/log.txt)" "info: finished: 1 epoch, 7 updates"
lacks "$err" $'\r'
lacks "$err$out" $'\e'

# What is likely a slip is done, and said.
passes "$CAIRN" train digits "${quick[@]}" --batch 500 --run slip --threads $(($(nproc) + 1))
contains "$err" "warning: --batch 500 is more than the 100 pictures to train on"
# Under OMP_THREAD_LIMIT there are never more threads than processors to warn of.
[ -n "${OMP_THREAD_LIMIT-}" ] || contains "$err" "warning: --threads $(($(nproc) + 1)): there"

# On a terminal: colours, unless NO_COLOR is set. `script` gives the program a terminal.
on_terminal()
{
    script -qec "$*" /dev/null </dev/null | tr -d '\r'
}
export TERM=xterm
contains "$(NO_COLOR='' on_terminal "$CAIRN" --help)" $'\e['
lacks "$(on_terminal "$CAIRN" --help)" $'\e['
lacks "$(NO_COLOR='' TERM=dumb on_terminal "$CAIRN" --help)" $'\e['
contains "$(NO_COLOR='' on_terminal "$CAIRN" nonsense)" $'\e[31m'
unset TERM

# Output that can't be written is no success.
for command in "--help" "--version" "model --model lenet" "data check digits" "predict run digits/3/0001.png"; do
    "$CAIRN" $command >/dev/full 2>.err && fail "$command: a full disk went unnoticed"
    contains "$(tail -n 1 .err)" "stdout can't be written"
done
# A line of the plain log says what metrics.jsonl says of the same update.
digits reported 40
passes "$CAIRN" train reported "${quick[@]}" --report-every 5 --run reported-run
for update in 5 10 15 20; do
    grep "\"kind\":\"train\".*\"update\":$update," reported-run/metrics.jsonl >.out || fail "no report of update $update"
    contains "$(grep "| update $update/" reported-run/log.txt)" "| loss $(printf %.4f "$(json loss)") |"
    contains "$(grep "| update $update/" .err)" "| loss $(printf %.4f "$(json loss)") |"
done
finish
