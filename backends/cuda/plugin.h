/* plugin.h - the one symbol that libcairn looks up in libcairn_cuda.so. */
#ifndef CAIRN_BACKENDS_CUDA_PLUGIN_H
#define CAIRN_BACKENDS_CUDA_PLUGIN_H

#include "core/backend.h"

/* The table of this backend. Its `abi` is to be compared before anything else of it is used. */
const cairn_backend *cairn_cuda_plugin(void);

#endif
