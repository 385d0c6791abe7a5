# What is said of a plug-in that is missing, is none, or is another build's; no CUDA is needed for it.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
export CAIRN_PLUGIN_PATH=$scratch/plugin
bench=("$CAIRN" bench --model lenet --batch 1 --steps 1 --untimed 1 --device)
mkdir plugin

# fake TEXT: a plug-in compiled from this C.
fake()
{
    echo "$1" | cc -shared -fPIC -x c - -o plugin/libcairn_cuda.so || fail "cc"
}

expect 3 "there is no libcairn_cuda.so in $scratch/plugin, where CAIRN_PLUGIN_PATH points" "${bench[@]}" cuda
echo "not a library" >plugin/libcairn_cuda.so
expect 3 "build libcairn and the plug-in anew" "${bench[@]}" cuda
fake 'int other;'
expect 3 "is not a plug-in of Cairn" "${bench[@]}" cuda
fake 'static struct { int abi; } table = {1}; void *cairn_cuda_plugin(void) { return &table; }'
expect 3 "libcairn_cuda.so has ABI 1 and this library" "${bench[@]}" cuda
fake 'extern int nowhere(void); void *cairn_cuda_plugin(void) { return (void *)(long)nowhere(); }'
expect 3 "nowhere" "${bench[@]}" cuda

# A machine without a GPU runs on the CPU, and says so; --version tells what each backend would do.
unset CAIRN_PLUGIN_PATH
if [ ! -e /proc/driver/nvidia/version ]; then
    passes "${bench[@]}" auto
    contains "$out$err" "cpu"
    expect 3 "there is no NVIDIA GPU in this machine" "${bench[@]}" cuda
fi
passes "$CAIRN" --version
contains "$out" "device cuda: "
contains "$out" "device cpu: cpu"
finish
