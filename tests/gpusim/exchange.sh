# Checkpoints move between the simulated GPU and the CPU, both ways: evaluated alike there, and trained on.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
digits digits 12
narrow=(--preset paper --width-divisor 8 --image-size 67 --epochs 1 --batch 16 --no-flip --loader-threads 1 --deterministic --direct --precision fp32)

# loss DEVICE RUN: the validation loss of the run's last checkpoint on that device.
loss()
{
    passes "$CAIRN" eval "$2/last.safetensors" digits --device "$1" --json
    json loss
}

for model in lenet alexnet; do
    options=("${narrow[@]}")
    [ $model = lenet ] && options=("${quick[@]}" --precision fp32)
    for pair in "cpu cuda" "cuda cpu"; do
        read -r here there <<<"$pair"
        run=$model-$here
        passes "$CAIRN" train digits "${options[@]}" --device "$here" --run "$run"
        own=$(loss "$here" "$run") others=$(loss "$there" "$run")
        echo "$model trained on $here: loss $own there, $others on $there"
        holds "($own / $others - 1) ^ 2 < 1e-8"
        cp -r "$run" "$run-on"
        passes "$CAIRN" train --resume "$run-on" --epochs 2 --device "$there"
        passes "$CAIRN" train --resume "$run" --epochs 2 --device "$here"
        stayed=$(loss cpu "$run") moved=$(loss cpu "$run-on")
        echo "    after one more epoch: $stayed on $here, $moved on $there"
        holds "($stayed / $moved - 1) ^ 2 < 1e-4"
    done
done
finish
