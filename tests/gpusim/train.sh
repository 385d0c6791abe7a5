# A training on the simulated GPU that learns: train.sh MODEL PRECISION. In fp32 it must also go as the same run on the CPU does.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
model=$1 precision=$2
case $model in
lenet) options=(--model lenet --epochs 4 --learning-rate 0.001) least=0.85 ;;
alexnet) options=(--model alexnet --preset owt --width-divisor 8 --image-size 64 --dropout 0 --epochs 5 --learning-rate 0.001) least=0.7 ;;
esac
digits digits 40
options+=(--batch 16 --no-flip --loader-threads 1 --deterministic --direct)

# evaluation RUN EPOCH KEY: a figure of the run's evaluation after that epoch.
evaluation()
{
    grep '"kind":"evaluation"' "$1/metrics.jsonl" | sed -n "$2p" | sed "s/.*\"$3\":\([^,}]*\).*/\1/"
}

passes "$CAIRN" train digits "${options[@]}" --precision "$precision" --device cuda --run cuda
grep -q '"backend": "cuda"' cuda/manifest.json || fail "the run was not on cuda"
last=$(grep -c '"kind":"evaluation"' cuda/metrics.jsonl)
echo "$model $precision: top-1 $(evaluation cuda "$last" top1), loss $(evaluation cuda "$last" loss)"
holds "$(evaluation cuda "$last" top1) >= $least"
if [ "$precision" = fp32 ]; then
    passes "$CAIRN" train digits "${options[@]}" --epochs 1 --precision fp32 --device cpu --run cpu
    passes "$CAIRN" train digits "${options[@]}" --epochs 1 --precision fp32 --device cuda --run short
    echo "after one epoch: cpu $(evaluation cpu 1 loss), cuda $(evaluation short 1 loss)"
    holds "($(evaluation cpu 1 loss) / $(evaluation short 1 loss) - 1) ^ 2 < 1e-4"
fi
finish
