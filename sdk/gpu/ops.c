// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "ops.h"

#include <string.h>

#define DEFINE(name, upper)                                                                        \
    static const tapml_op_impl name##_impl = TAPML_IMPL(tapml_##name, gpu_op_##name);
#define POINT(name, upper) &name##_impl,

TAPML_OPS_EACH(DEFINE)

static const tapml_op_impl *const list[TAPML_OPS_COUNT] = {TAPML_OPS_EACH(POINT)};

const tapml_op_impl *const *gpu_ops_list(uint32_t *out_count)
{
    *out_count = TAPML_OPS_COUNT;
    return list;
}

const tapml_op_impl *gpu_ops_find(const tapml_op *op)
{
    for (uint32_t i = 0; i < TAPML_OPS_COUNT; i++) {
        if (list[i]->op->version == op->version && strcmp(list[i]->op->name, op->name) == 0) {
            return list[i];
        }
    }
    return NULL;
}
