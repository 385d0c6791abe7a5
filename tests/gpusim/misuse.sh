#!/bin/bash
# Mistakes that a real GPU answers with undefined behaviour, or with a message that names nothing, each found and named by the runtime double.
set -uo pipefail
failures=0

# sees CODE "TEXT" MISTAKE [VARIABLE=VALUE]...: the program ends with that code and says the text.
sees()
{
    local want=$1 text=$2 mistake=$3 said code
    shift 3
    said=$(env "$@" "$CAIRN_BUILD/tests/bin/test_gpusim_misuse" "$mistake" 2>&1)
    code=$?
    [ "$code" = "$want" ] && [[ $said == *"$text"* ]] && return
    echo "FAILED: $mistake $*: exit code $code, want $want; said \"$said\", want \"$text\""
    failures=$((failures + 1))
}

sees 0 "" none
sees 0 "" kernel
sees 99 "fill wrote byte 400 of an allocation of 400" write_behind
sees 99 "fill touched byte 4096 of an allocation of 400" write_far_behind
sees 99 "fill touched byte 0 of an allocation of 400 that was freed" use_after_free
sees 99 "memory that was freed before" free_twice
sees 99 "an address that cudaMalloc never gave: byte 4 of an allocation of 400" free_inside
sees 99 "cudaMemsetAsync: 401 bytes from byte 0 of an allocation of 400" copy_behind
sees 99 "host code touched device memory: byte 0" host_reads_device
sees 99 "not where its cudaMemcpyKind 2 says" wrong_kind
sees 99 "400 bytes of device memory in 1 allocations were never freed" leak
sees 99 "divergent: threads of a block wait" divergent
sees 99 "kernel unknown has no host version" unknown_kernel
sees 0 "cudaErrorInvalidDeviceFunction" unregistered
sees 99 "the legacy default stream is used" default_stream
sees 0 "" deadlock
sees 99 "deadlock: every stream waits" deadlock GPUSIM_FAULT=lost_record
sees 0 "cudaErrorNoKernelImageForDevice" kernel GPUSIM_PROFILE=gtx1070
sees 0 "cudaErrorNoKernelImageForDevice" kernel GPUSIM_PROFILE=laptop
sees 0 "cudaErrorMemoryAllocation" second_malloc GPUSIM_FAIL=malloc:2
sees 0 "cudaErrorMemoryAllocation" second_malloc GPUSIM_MEMORY=1000000
sees 1 "cudaErrorNoDevice" none CUDA_VISIBLE_DEVICES=
sees 1 "cudaErrorInsufficientDriver" none GPUSIM_PROFILE=old_driver
sees 99 "is not KIND:N" none GPUSIM_FAIL=launches:2
sees 99 "nowhere.json" none GPUSIM_PROFILE=nowhere
exit $((failures > 0))
