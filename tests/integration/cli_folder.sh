# Folders and pictures that can't be trained on: one line naming them and the way out, exit code 4, before anything is made.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
digits digits 12

mkdir empty one && cp -r digits/3 one/
mkdir loose && cp digits/3/*.png loose/
mkdir -p hollow/a hollow/b
mkdir -p noise/a noise/b
for i in 1 2 3 4 5 6; do
    echo "this is no picture, $i" >noise/a/$i.png
    cp digits/7/000$i.png noise/b/
done
expect_only 2 "pool2 (maxpool2d)" "$CAIRN" train digits --image-size 16 --run run
contains "$err" "--image-size 16 is too small for alexnet, which takes 63 and more"
expect_only 2 "--warmup 500 is not below the 7 updates" "$CAIRN" train digits "${quick[@]}" --warmup 500 --run run
[ -e run ] && fail "a run folder is made for a net that can't be"
for command in "train" "data check"; do
    run=()
    [ "$command" = train ] && run=("${quick[@]}" --run run)
    expect_only 4 "missing: " "$CAIRN" $command missing "${run[@]}"
    expect_only 4 "empty: " "$CAIRN" $command empty "${run[@]}"
    expect_only 4 "one: " "$CAIRN" $command one "${run[@]}"
    expect_only 4 "loose: 12 loose files and" "$CAIRN" $command loose "${run[@]}"
    expect_only 4 "digits/3/0001.png: " "$CAIRN" $command digits/3/0001.png "${run[@]}"
    expect 4 "hollow: " "$CAIRN" $command hollow "${run[@]}"
    [ -e run ] && fail "$command: a run folder is made for nothing"
    expect 4 "be read" "$CAIRN" $command noise "${run[@]}"
    contains "$err$out" "noise/a/"
    rm -rf run
done

cp -r digits spare && cp digits/3/0001.png spare/
passes "$CAIRN" data check spare
contains "$err" "1 loose file beside the class folders stays out"

# One bad file among many is named and left out.
cp -r digits mixed
head -c 200 digits/3/0005.png >mixed/3/0005.png
expect 4 "1 of 120" "$CAIRN" data check mixed --max-bad 0
contains "$out" "mixed/3/0005.png"
passes "$CAIRN" data check mixed --max-bad 0.02
contains "$out" "PNG 119"
contains "$out" "20x20"
passes "$CAIRN" train mixed "${quick[@]}" --val-split 0 --max-bad 0.02 --run mixed-run
contains "$err" "mixed/3/0005.png"

# train/ and val/ are the split, and are counted apart.
mkdir -p parted/train parted/val
cp -r digits/1 digits/2 parted/train/
cp -r digits/1 parted/val/
passes "$CAIRN" data check parted
contains "$out" "class  train  val"
contains "$out" "train/ and val/ are the split"
lacks "$err" "warning"

# Names that a terminal would obey, or that can't be stored.
mkdir names && cp -r digits/1 names/$'a\e[31mb' && cp -r digits/2 names/2
passes "$CAIRN" data check names
lacks "$out$err" $'\e'
passes "$CAIRN" train names "${quick[@]}" --run names-run
passes "$CAIRN" predict names-run names/2/0001.png
lacks "$out$err" $'\e'
cp -r digits/3 names/$'caf\xe9'
expect 4 "is not UTF-8" "$CAIRN" train names "${quick[@]}" --run names-run-2
expect 4 "is not UTF-8" "$CAIRN" data check names --json

# The report as JSON.
passes "$CAIRN" data check mixed --max-bad 0.02 --json
same "$(json pictures) $(json classes.length) $(json formats.length) $(json formats.PNG)" "120 10 1 119"
same "$(json bad.0.file)" mixed/3/0005.png
same "$(json median.0) $(json median.1)" "20 20"
finish
