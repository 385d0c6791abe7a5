#!/bin/bash
# Writes, to stdout, the C++ that compiles the product's kernels for the host and lists them for the runtime double (kernel.hpp). Which they
# are is read from the plug-in that nvcc built, so none can be forgotten.
#
#     kernel_table.sh libcairn_cuda.so backends/cuda/kernels/*.cuh
set -euo pipefail
plugin=$1
shift
echo '#include "kernel.hpp"'
printf '#include "%s"\n' "$@"
echo 'const gpusim::host_kernel gpusim::product_kernels[] = {'
# nvcc leaves a host stub __device_stub__Z<length><name><types> for every kernel. All kernels are extern "C": a name is enough.
nm "$plugin" | awk '
    match($0, /__device_stub__Z[0-9]+/) {
        length_at = RSTART + 16
        digits = RSTART + RLENGTH - length_at
        name = substr($0, length_at + digits, substr($0, length_at, digits))
        if (!seen[name]++) printf "    gpusim::invoker<%s>::entry(\"%s\"),\n", name, name
    }'
echo '    {nullptr, nullptr, 0, nullptr}};'
