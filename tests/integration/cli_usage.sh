# What is typed wrongly: one line that names it and the way out, exit code 2, nothing on stdout.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"

wrong()
{
    expect_only 2 "$@"
    same "$out" ""
}

expect 2 "a command is missing" "$CAIRN"
wrong "trian: no such command; did you mean cairn train?" "$CAIRN" trian photos
wrong "did you mean cairn data check?" "$CAIRN" data chek photos
wrong "did you mean cairn data check?" "$CAIRN" data
wrong "frobnicate: no such command; cairn --help lists them" "$CAIRN" frobnicate

wrong "--bacth: no such option; did you mean --batch?" "$CAIRN" train photos --bacth 3
wrong "--learning: no such option; did you mean --learning-rate?" "$CAIRN" train photos --learning=1
wrong "-x: no such option; see cairn train --help" "$CAIRN" train photos -x
wrong "--json: an option of eval, predict, bench, data check, not of train" "$CAIRN" train photos --json
wrong "--batch: wants a value, --batch N" "$CAIRN" train photos --batch
wrong "--nesterov: takes no value" "$CAIRN" train photos --nesterov=3

touch -- -dash.png
wrong "-dash.png: taken for an option, and there is none of that name; ./-dash.png names the file" "$CAIRN" predict run -dash.png

for value in abc "" 0 -1 1.5 70000 nan 1e400; do
    wrong "a whole number from 1 to 65536 is wanted" "$CAIRN" train photos --batch "$value"
done
wrong "--dropout 2: a number from 0 to 0.99, or auto, is wanted" "$CAIRN" train photos --dropout 2
wrong "--optimizer sdg: sgd, adam or adamw is wanted; did you mean sgd?" "$CAIRN" train photos --optimizer sdg
wrong "--memory-limit 2X: a number of bytes such as 800M or 2G" "$CAIRN" train photos --memory-limit 2X
wrong "--memory-limit 2MB: a number of bytes" "$CAIRN" train photos --memory-limit 2MB

# The ends of a range are in it.
expect_only 4 "photos" "$CAIRN" train photos --label-smoothing 0.99 --dropout 0.99
mkdir -p two/a two/b && touch two/a/1.png two/b/1.png
wrong "--floor 1 is above the learning rate of 0.0002" "$CAIRN" train two --floor 1 --run run

wrong "FOLDER is missing" "$CAIRN" train
wrong "others: one argument too many; cairn train FOLDER is the form" "$CAIRN" train photos others
wrong "x: one argument too many; cairn model is the form" "$CAIRN" model x
wrong "CHECKPOINT FOLDER is missing; for example: cairn eval" "$CAIRN" eval photos
wrong "no picture is given; for example: cairn predict runs/photos cat.jpg" "$CAIRN" predict runs/photos
wrong "alexnet" "$CAIRN" model --model alexnot
wrong "owt" "$CAIRN" model --preset wto
wrong "cpu" "$CAIRN" model --device gpu9

# A name that a terminal would obey is shown harmlessly.
run "$CAIRN" $'a\e[31mb'
lacks "$err" $'\e'
finish
