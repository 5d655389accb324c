// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "ops.h"

#include "object.h"

#include <stdio.h>
#include <string.h>

#define DECLARE(name) extern const tapml_op_impl ops_##name;
#define POINT(name)   &ops_##name,

OPS(DECLARE)

static const tapml_op_impl *const impls[] = {OPS(POINT) NULL};
static const tapml_op_impl *const of_bf16[] = {OPS_OF_BF16(POINT) NULL};

tapml_status ops_list(tapml_object *device,
                      tapml_call *call,
                      const tapml_op_impl *const **out_list,
                      uint32_t *out_count)
{
    *out_list = impls;
    *out_count = sizeof(impls) / sizeof(*impls) - 1;
    return TAPML_OK;
}

static int has(const tapml_op_impl *const *list, const tapml_op *op)
{
    for (const tapml_op_impl *const *impl = list; *impl != NULL; impl++) {
        if (strcmp((*impl)->op->name, op->name) == 0 && (*impl)->op->version == op->version) {
            return 1;
        }
    }
    return 0;
}

float ops_weight(const tapml_tensor *weight, uint64_t at)
{
    const unsigned char *data = object_of(weight->buffer)->data + weight->offset;
    uint32_t bits = 0;
    uint16_t upper = 0; // Which bf16 has of an f32.
    float value = 0;

    if (weight->dtype == TAPML_BF16) {
        memcpy(&upper, data + at * sizeof(upper), sizeof(upper));
        bits = (uint32_t)upper << 16;
    } else {
        memcpy(&bits, data + at * sizeof(bits), sizeof(bits));
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int is_dense(const tapml_tensor *tensor)
{
    int64_t step = 1;

    for (uint32_t axis = tensor->rank; tensor->stride != NULL && axis-- > 0;) {
        if (tensor->shape[axis] != 1 && tensor->stride[axis] != step) {
            return 0;
        }
        step *= tensor->shape[axis];
    }
    return 1;
}

static int is_plain(const tapml_value *arg, int may_be_bf16)
{
    const int is_tensor = arg->kind >= TAPML_P_TENSOR_IN && arg->kind <= TAPML_P_TENSOR_INOUT;
    const tapml_tensor *tensor = is_tensor ? arg->u.p : NULL;

    return tensor == NULL || // A number, tensors in a list, or an optional tensor that is absent.
           (tensor->encoding == NULL && is_dense(tensor) &&
            (tensor->dtype == TAPML_F32 || tensor->dtype == TAPML_I32 ||
             (tensor->dtype == TAPML_BF16 && may_be_bf16)));
}

// A promise for just these arguments: what it accepts has to work. It begins narrow, and each op
// whose function takes more says so here.
tapml_status ops_supports(tapml_object *device,
                          tapml_call *call,
                          const tapml_op *op,
                          const tapml_value *args,
                          uint32_t n_args,
                          tapml_support *answer)
{
    answer->grade = TAPML_SUPPORT_NO;
    if (!has(impls, op) || n_args != op->n_params) {
        (void)snprintf(answer->reason, sizeof(answer->reason), "'%s' is not written", op->name);
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < n_args; i++) {
        const int is_weight = (op->params[i]->effects & TAPML_E_WEIGHT) != 0;

        if (!is_plain(&args[i], is_weight && has(of_bf16, op))) {
            (void)snprintf(answer->reason, sizeof(answer->reason),
                           "'%s' is not dense, or neither f32 nor i32", op->params[i]->name);
            return TAPML_OK;
        }
    }
    answer->grade = TAPML_SUPPORT_YES;
    return TAPML_OK;
}

tapml_status ops_unwritten(tapml_object *queue, tapml_call *call)
{
    return object_fail(object_of(queue), call, TAPML_UNIMPLEMENTED, "the op is not written");
}
