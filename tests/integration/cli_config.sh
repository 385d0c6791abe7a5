# Configuration files: every option, the command line above them, one line for what is wrong in them, and back again from a run.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"

# ---- what is wrong in a file ----

bad()
{
    printf "$1" >bad.ini
    expect_only 2 "bad.ini:$2" "$CAIRN" train photos --config bad.ini
}

bad 'batch = 16\nbacth = 3\n' '2: bacth: no such option; did you mean batch?'
bad 'top = 3\n' '1: top: an option of predict, not of train'
bad '# remark\n\nbatch = many\n' '3: batch = many: a whole number from 1 to 65536 is wanted'
bad 'optimizer = adma\n' '1: optimizer = adma: sgd, adam or adamw is wanted; did you mean adam?'
bad 'nesterov = perhaps\n' '1: nesterov = perhaps: yes or no is wanted'
bad 'batch = 3\nbatch = 4\n' '2: batch: given twice'
bad 'batch 3\n' '1: a line "name = value" is wanted'
bad '[train]\nbatch = 3\n' '2: [train]: there are no sections'
bad 'help = yes\n' '1: help: for the command line only'
bad 'config = other.ini\n' '1: config: for the command line only'
printf 'batch\0= 3\n' >bad.ini
expect_only 2 "bad.ini: not a text file" "$CAIRN" train photos --config bad.ini
expect_only 7 "missing.ini: " "$CAIRN" train photos --config missing.ini

# ---- what is right ----

digits digits 12
# A byte order mark, Windows line ends, remarks, indentation, ':' for '=', and a line longer than the parser's own limit.
long=$(printf 'd%.0s' {1..120})/$(printf 'e%.0s' {1..120})
mkdir -p "$long"
cp -r digits "$long/digits"
printf '\xef\xbb\xbf# a remark\r\n   model: lenet ; another\r\n\r\nepochs = 1\r\n  batch = 16\r\nfolder = %s\r\nthreads = 1\r\n' "$long/digits" >good.ini
passes "$CAIRN" train --config good.ini --run run --epochs 2 --seed 5 --no-flip
grep -qx 'epochs = 2' run/config || fail "the command line doesn't win over the file"
grep -qx 'batch = 16' run/config || fail "the file doesn't win over the default"
grep -qx 'flip = no' run/config || fail "a flag put off isn't kept"
grep -qx "folder = $(pwd -P)/$long/digits" run/config || fail "a long value is lost"

# The manifest holds a command line that could be typed again.
passes "$CAIRN" train digits "${quick[@]}" --run "it's a run"
contains "$(cat "it's a run/manifest.json")" "cairn train digits --model lenet --epochs 1 --batch 16 --threads 1 --loader-threads 1 --run 'it'\\\\''s a run'"

# What the run wrote gives the same run.
passes "$CAIRN" train --config run/config --run again
cmp run/config again/config || fail "the configuration doesn't come back as it was"
cmp run/last.safetensors again/last.safetensors || fail "the same configuration doesn't give the same weights"

# A run goes on from anywhere: its config names the pictures from the root.
mkdir elsewhere
(cd elsewhere && passes "$CAIRN" train --resume ../run --epochs 3 && exit "$failures") || fail "a run can't go on from another folder"

# A folder whose name the format would swallow.
odd=' odd ;name\x41 '
mv digits "$odd"
passes "$CAIRN" train "$odd" "${quick[@]}" --run odd
passes "$CAIRN" train --config odd/config --run odder
cmp odd/config odder/config || fail "an odd name doesn't come back as it was"
finish
