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
python=$(command -v python3) && {
    "$python" -c 'import json,sys
d = json.load(open(sys.argv[1]))
assert d["pictures"] == 200 and len(d["classes"]) == 10, d
assert 0.7 < d["top1"] <= d["top5"] <= 1 and d["loss"] > 0, d
assert abs(sum(c["right"] for c in d["classes"]) / 200 - d["top1"]) < 1e-6, d' .out || fail "eval --json"
    expect 4 "1 of 2" "$CAIRN" predict run digits/3/0001.png bad.jpg --json
    "$python" -c 'import json,sys
d = json.load(open(sys.argv[1]))
good, bad = d["pictures"]
assert good["classes"][0]["name"] == "3" and len(good["classes"]) == 3, d
assert bad["file"] == "bad.jpg" and "bad.jpg" in bad["error"], d' .out || fail "predict --json"
}
finish
