// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guard_violation.h"

#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>

static void note(struct guard_violation *violation,
                 const struct guarded_call *guarded,
                 enum guard_kind kind,
                 const struct guarded_use *use)
{
    violation->kind = kind;
    violation->param = use->param;
    violation->is_weight = (guarded_call_param(guarded, use)->effects & TAPML_E_WEIGHT) != 0;
}

// The element of a tensor that holds a byte of its inner buffer; 0 where none does.
static int find_element(const struct guarded_use *use, uint64_t byte, uint64_t *out_index)
{
    const tapml_tensor *tensor = use->tensor;
    const uint64_t element_bytes = dtype_bytes(tensor->dtype);
    const uint64_t first = use->buffer->redzone + tensor->offset;
    int64_t dense[TAPML_MAX_RANK];
    int64_t count = 0;
    if (tensor->encoding || byte < first || element_bytes == 0 ||
        shape_count(tensor->shape, tensor->rank, &count) != TAPML_OK) {
        return 0;
    }
    shape_dense_strides(tensor->shape, tensor->rank, dense);
    const int64_t *stride = tensor->stride ? tensor->stride : dense;
    for (uint64_t index = 0; index < (uint64_t)count; index++) {
        uint64_t rest = index, at = 0;
        for (uint32_t i = tensor->rank; i > 0; i--) {
            at += rest % (uint64_t)tensor->shape[i - 1] * (uint64_t)stride[i - 1];
            rest /= (uint64_t)tensor->shape[i - 1];
        }
        if (at == (byte - first) / element_bytes) {
            *out_index = index;
            return 1;
        }
    }
    return 0;
}

// A byte between the redzones.
static void describe_inside(struct guard_violation *violation,
                            const struct guarded_call *guarded,
                            const struct guarded_use *use,
                            uint64_t byte)
{
    const tapml_param *param = guarded_call_param(guarded, use);
    const size_t size = sizeof(violation->what);
    int64_t rows = 0;
    uint64_t index = 0;
    const int is_element = find_element(use, byte, &index);
    if (!guarded_call_is_output(param) && is_element) {
        (void)snprintf(violation->what, size, "input '%.60s' changed at element %" PRIu64,
                       param->name, index);
    } else if (is_element && use->tensor->rank > 0 && (param->effects & TAPML_E_STATE_WRITE) != 0) {
        const struct infer_region *region = &guarded->call->inferred->regions[use->param];
        (void)shape_count(use->tensor->shape + 1, use->tensor->rank - 1, &rows);
        (void)snprintf(violation->what, size,
                       "row %" PRIu64 " of state '%.60s' was written, outside of rows %" PRId64
                       " .. %" PRId64,
                       index / (uint64_t)rows, param->name, region->begin, region->end - 1);
    } else {
        (void)snprintf(violation->what, size,
                       "byte %" PRIu64 " of the buffer of '%.60s' was written, outside of its view",
                       byte - use->buffer->redzone, param->name);
    }
}

void guard_violation_outside(struct guard_violation *out_violation,
                             const struct guarded_call *guarded,
                             const struct guarded_use *use,
                             uint64_t byte)
{
    struct guard_violation *violation = out_violation;
    const struct guard_buffer *buffer = use->buffer;
    const char *name = guarded_call_param(guarded, use)->name;
    char *what = violation->what;
    const size_t size = sizeof(violation->what);
    note(violation, guarded, GUARD_OUTSIDE, use);
    if (byte < buffer->redzone) {
        (void)snprintf(what, size,
                       "redzone before '%.60s' was written, %" PRIu64 " bytes before its buffer",
                       name, buffer->redzone - byte);
    } else if (byte >= buffer->redzone + buffer->size) {
        (void)snprintf(what, size,
                       "redzone after '%.60s' was written, at byte %" PRIu64 " behind its buffer",
                       name, byte - buffer->redzone - buffer->size);
    } else {
        describe_inside(violation, guarded, use, byte);
    }
}

void guard_violation_weight(struct guard_violation *out_violation,
                            const struct guarded_call *guarded,
                            const struct guarded_use *use)
{
    note(out_violation, guarded, GUARD_OUTSIDE, use);
    (void)snprintf(out_violation->what, sizeof(out_violation->what),
                   "weight '%.60s' changed, in this call or in one before that used it",
                   guarded_call_param(guarded, use)->name);
}

void guard_violation_elsewhere(struct guard_violation *out_violation,
                               const struct guarded_call *guarded,
                               const struct guarded_use *use,
                               const struct guard_buffer *buffer)
{
    note(out_violation, guarded, GUARD_OUTSIDE, use);
    (void)snprintf(out_violation->what, sizeof(out_violation->what),
                   "a buffer of %" PRIu64 " bytes was written that is no argument of the call",
                   buffer->size);
}

void guard_violation_unwritten(struct guard_violation *out_violation,
                               const struct guarded_call *guarded,
                               const struct guarded_use *use,
                               uint64_t element)
{
    note(out_violation, guarded, GUARD_UNWRITTEN, use);
    (void)snprintf(out_violation->what, sizeof(out_violation->what),
                   "'%.60s' was not written from element %" PRIu64 ", poison is left",
                   guarded_call_param(guarded, use)->name, element);
}

void guard_violation_poisoned(struct guard_violation *out_violation,
                              const struct guarded_call *guarded,
                              const struct guarded_use *use,
                              uint64_t element)
{
    note(out_violation, guarded, GUARD_POISONED, use);
    (void)snprintf(out_violation->what, sizeof(out_violation->what),
                   "'%.60s' has poison at element %" PRIu64 ", read from outside of the inputs",
                   guarded_call_param(guarded, use)->name, element);
}
