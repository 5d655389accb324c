// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run.h"

// Members of tapml_backend.
tapml_status ops_list(tapml_object *device,
                      tapml_call *call,
                      const tapml_op_impl *const **out_list,
                      uint32_t *out_count);
tapml_status ops_supports(tapml_object *device,
                          tapml_call *call,
                          const tapml_op *op,
                          const tapml_value *args,
                          uint32_t n_args,
                          tapml_support *answer);

// An op as steps of the library. `args` has one value for each of its parameters.
typedef void ops_build(struct run *run, const tapml_value *args);

ops_build attention_build;
ops_build attention_append;
ops_build linear_build;
ops_build rope_build;
ops_build rows_binary;
ops_build rows_concat;
ops_build rows_copy;
ops_build rows_embed;
ops_build rows_gather;
ops_build rows_norm;
ops_build rows_sum;
ops_build rows_unary;

// The tensor of a value, or NULL.
static inline const tapml_tensor *tensor_of(const tapml_value *value)
{
    return value->kind == TAPML_V_NONE ? NULL : value->u.p;
}
