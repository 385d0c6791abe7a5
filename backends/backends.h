/* backends.h - the backends built into this library, and the one place that names them.
 *
 *     cairn_device *device;
 *     CAIRN_TRY(cairn_device_open("auto", &(cairn_device_options){0}, &device));
 */
#ifndef CAIRN_BACKENDS_BACKENDS_H
#define CAIRN_BACKENDS_BACKENDS_H

#include "core/backend.h"

extern const cairn_backend cairn_backend_ref;
extern const cairn_backend cairn_backend_cuda; /* opens its plug-in when it is asked for */
extern const cairn_backend cairn_backend_cpu;

/* NULL-terminated, in the order "auto" tries them: cuda, cpu. ref is taken by name only, so it comes last. */
const cairn_backend *const *cairn_backends(void);

/* cairn_device_select over them. "auto", "cuda", "cuda:1", "cpu" or "ref". */
cairn_status cairn_device_open(const char *request, const cairn_device_options *options, cairn_device **out);

#endif
