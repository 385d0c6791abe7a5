# eval and predict: what they say of a trained net, for people and as JSON.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
digits digits 20
passes "$CAIRN" train digits --model lenet --epochs 5 --batch 8 --learning-rate 0.001 --threads 1 --no-flip --run run

# predict: a run folder, a file, and --checkpoint come to the same.
passes "$CAIRN" predict run digits/3/0001.png digits/0/0001.png
contains "$out" "digits/3/0001.png  3 "
contains "$out" "digits/0/0001.png  0 "
same "$(wc -l <.out)" 2
lines=$out
passes "$CAIRN" predict run/best.safetensors digits/3/0001.png digits/0/0001.png
same "$out" "$lines"
passes "$CAIRN" predict --checkpoint run digits/3/0001.png digits/0/0001.png
same "$out" "$lines"
passes "$CAIRN" predict run --top 1 digits/3/0001.png
lacks "$out" ","
passes "$CAIRN" predict run --top 1000 digits/3/0001.png
same "$(grep -o '%' <<<"$out" | wc -l)" 10

# A bad picture is named, the others are told, and the code is 4.
echo "no picture" >bad.jpg
expect 4 "2 of 3 pictures couldn't be read" "$CAIRN" predict run bad.jpg digits/3/0001.png gone.png
contains "$err" "bad.jpg"
contains "$err" "gone.png"
contains "$out" "digits/3/0001.png  3 "
expect_only 4 "bad.jpg" "$CAIRN" predict run bad.jpg

# eval: the validation part by itself, all pictures, JSON.
passes "$CAIRN" eval run digits
contains "$out" "top-1"
contains "$out" "40 validation pictures"
passes "$CAIRN" eval run digits --part all --json
same "$(json pictures)" 200
same "$(json classes.length)" 10
holds "0.7 < $(json top1) && $(json top1) <= $(json top5) && $(json top5) <= 1 && $(json loss) > 0"
right=0
for class in {0..9}; do right=$((right + $(json "classes.$class.right"))); done
holds "($right / 200 - $(json top1)) ^ 2 < 1e-12"

# The run's split is of the folder trained on, also where that was moved; of another, numbered alike, every picture counts.
cp -r digits other
passes "$CAIRN" eval run other
contains "$out" "200 pictures of other"
contains "$err" "other is not the folder trained on"
passes "$CAIRN" eval run ./other/../digits
contains "$out" "40 validation pictures"
mv digits away
passes "$CAIRN" eval run other
contains "$out" "40 validation pictures of other"
mv away digits

expect 4 "1 of 2" "$CAIRN" predict run digits/3/0001.png bad.jpg --json
same "$(json pictures.0.classes.0.name)" 3
same "$(json pictures.0.classes.length)" 3
same "$(json pictures.1.file)" bad.jpg
contains "$(json pictures.1.error)" bad.jpg
finish
