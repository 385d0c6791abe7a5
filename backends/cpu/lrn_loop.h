/* lrn_loop.h - local response normalisation over plain memory, for any window.
 *
 *     CAIRN_TRY(cairn_lrn_loop_plan(device, &desc, &plan));
 */
#ifndef CAIRN_BACKENDS_CPU_LRN_LOOP_H
#define CAIRN_BACKENDS_CPU_LRN_LOOP_H

#include "core/backend.h"

cairn_status cairn_lrn_loop_plan(cairn_device *device, const cairn_lrn_desc *desc, cairn_plan **out);

#endif
