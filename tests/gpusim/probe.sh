# What a GPU that can't be used says of itself: the cause and the mend in one line, exit code 3.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
lib=${LD_LIBRARY_PATH%%:*}
bench=("$CAIRN" bench --model lenet --batch 1 --steps 1 --untimed 1)

# refused TEXT [VARIABLE=VALUE]...: a run on cuda ends with exit code 3 and says the text.
refused()
{
    local text=$1
    shift
    expect 3 "$text" env "$@" "${bench[@]}" --device cuda
}

refused "no NVIDIA driver is loaded: install one" GPUSIM_PROFILE=no_driver
refused "the NVIDIA driver is too old: it serves CUDA 11.8" GPUSIM_PROFILE=old_driver
refused "there is no GPU that the driver can use" GPUSIM_PROFILE=no_device
refused "no GPU is visible, as CUDA_VISIBLE_DEVICES is ''" CUDA_VISIBLE_DEVICES=
refused "no GPU is visible, as CUDA_VISIBLE_DEVICES is '7'" CUDA_VISIBLE_DEVICES=7
refused "out of memory at start" GPUSIM_FAIL=host:1
refused "out of memory at start" GPUSIM_FAIL=create:1
refused "out of memory at start" GPUSIM_FAIL=create:2
refused "cublasLtCreate" GPUSIM_FAIL=create:3
refused "cudnnCreate" GPUSIM_FAIL=create:4
refused "the CUDA runtime is too old: $lib/libcudart.so" GPUSIM_FAULT=old_cudart
refused "cuBLASLt is too old: $lib/libcublasLt.so" GPUSIM_FAULT=old_cublas
refused "cuDNN is too old: $lib/libcudnn.so" GPUSIM_FAULT=old_cudnn
refused "there is no libcairn_cuda.so in $scratch" CAIRN_PLUGIN_PATH="$scratch"
if [[ $("$CAIRN" --version) != *sm_6* ]]; then
    refused "no kernel image for sm_61 (NVIDIA GeForce GTX 1070)" GPUSIM_PROFILE=gtx1070
    expect 3 "no kernel image for sm_61" env GPUSIM_PROFILE=gtx1070 "${bench[@]}" --device auto
fi

# Turing's tensor cores take no f32: there is no TF32 to ask for. The sanitized build has no code for it.
if [[ $("$CAIRN" --version) == *sm_75* ]]; then
    expect 3 "--precision tf32: cuda:0 (Tesla T4" env GPUSIM_PROFILE=t4 "${bench[@]}" --device cuda --precision tf32
    passes env GPUSIM_PROFILE=t4 "${bench[@]}" --device cuda --precision fp32
fi

# Each library missing in turn: a copy of the plug-in asks for a version that is nowhere.
mkdir plugin
for file in "$lib"/*.so.*; do
    wanted=$(basename "$file")
    absent=${wanted//[0-9]/0}
    LC_ALL=C sed "s/$wanted/$absent/g" "$CAIRN_BUILD/libcairn_cuda.so" >plugin/libcairn_cuda.so
    refused "is missing: $absent was looked for in LD_LIBRARY_PATH" CAIRN_PLUGIN_PATH="$scratch/plugin"
done

# Several GPUs: in PCI order, by number or the beginning of their UUID.
expect 2 "there are: 0 (NVIDIA H200, GPU-7b2e1d63-93d7-4e0b-8f25-c1d07be4a901), 1 (NVIDIA H200, GPU-6a1f0c52" \
    env GPUSIM_PROFILE=two_h200 "${bench[@]}" --device cuda:2
expect 2 "no GPU is called 'cuda:GPU-9'" env GPUSIM_PROFILE=two_h200 "${bench[@]}" --device cuda:GPU-9
finish
