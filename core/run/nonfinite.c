// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/nonfinite.h"

#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>

enum { BLOCK = 256, INDEX_TEXT = 128 };

// An element that is not finite.
struct culprit {
    uint64_t index; // Dense.
    double value;
};

static int is_float(uint32_t dtype)
{
    return dtype == TAPML_F16 || dtype == TAPML_BF16 || dtype == TAPML_F32 || dtype == TAPML_F64;
}

static int find_in(uint32_t dtype, const void *data, uint64_t count, struct culprit *out_culprit)
{
    const unsigned char *bytes = data;
    double values[BLOCK];

    for (uint64_t begin = 0; is_float(dtype) && begin < count; begin += BLOCK) {
        const uint64_t left = count - begin < BLOCK ? count - begin : BLOCK;

        convert_to_f64(dtype, bytes + begin * dtype_bytes(dtype), (size_t)left, values);
        for (uint64_t i = 0; i < left; i++) {
            if (!isfinite(values[i])) {
                *out_culprit = (struct culprit){begin + i, values[i]};
                return 1;
            }
        }
    }
    return 0;
}

static const char *word_of(double value)
{
    return isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity";
}

// "[3, 17]" of a dense tensor.
static void print_index(const int64_t *shape, uint32_t rank, uint64_t index, char *out_text)
{
    int64_t axes[TAPML_MAX_RANK];
    size_t length = 0;

    for (uint32_t axis = rank; axis-- > 0;) {
        const uint64_t extent = shape[axis] > 0 ? (uint64_t)shape[axis] : 1;

        axes[axis] = (int64_t)(index % extent);
        index /= extent;
    }
    out_text[0] = '\0';
    for (uint32_t axis = 0; axis < rank && length < INDEX_TEXT; axis++) {
        length += (size_t)snprintf(out_text + length, INDEX_TEXT - length, "%s%lld",
                                   axis == 0 ? "[" : ", ", (long long)axes[axis]);
    }
    if (length < INDEX_TEXT) {
        (void)snprintf(out_text + length, INDEX_TEXT - length, rank > 0 ? "]" : "[]");
    }
}

// The bytes that a weight has in the checkpoint.
static int find_in_weight(struct nonfinite *nonfinite, uint32_t op, uint32_t value)
{
    const struct graph_op *reader = &nonfinite->graph->ops[op];
    const struct graph_value *weight =
        &nonfinite->graph->values[nonfinite->graph->values[value].base];
    int64_t shape[TAPML_MAX_RANK];
    char index[INDEX_TEXT];
    struct culprit culprit;

    if (weight->kind != GRAPH_WEIGHT || weight->data == NULL || weight->encoding != NULL ||
        !find_in(weight->dtype, weight->data, weight->data_bytes / dtype_bytes(weight->dtype),
                 &culprit)) {
        return 0;
    }
    for (uint32_t axis = 0; axis < weight->rank; axis++) {
        shape[axis] = weight->shape[axis].constant;
    }
    print_index(shape, weight->rank, culprit.index, index);
    (void)snprintf(nonfinite->sentence, sizeof(nonfinite->sentence),
                   "%s comes from the weights: element %s of tensor '%.400s', first read by "
                   "'%.300s' (%.100s)",
                   word_of(culprit.value), index, weight->name, reader->instance, reader->op->name);
    return 1;
}

static int find_in_weights(struct nonfinite *nonfinite, uint32_t op)
{
    const struct graph_op *reader = &nonfinite->graph->ops[op];

    for (uint32_t i = 0; i < reader->op->n_params; i++) {
        const struct graph_argument *argument = &reader->arguments[i];

        if (argument->kind == TAPML_P_TENSOR_IN && find_in_weight(nonfinite, op, argument->value)) {
            return 1;
        }
        for (uint32_t k = 0; argument->kind == TAPML_P_TENSORS_IN && k < argument->count; k++) {
            if (find_in_weight(nonfinite, op, argument->values[k])) {
                return 1;
            }
        }
    }
    return 0;
}

void nonfinite_look(struct nonfinite *nonfinite, uint32_t op, const struct case_argument *arguments)
{
    const struct graph_op *maker = &nonfinite->graph->ops[op];

    for (uint32_t i = 0; !nonfinite->is_found && i < maker->op->n_params; i++) {
        const struct case_argument *argument = &arguments[i];
        int64_t shape[TAPML_MAX_RANK];
        char index[INDEX_TEXT];
        struct culprit culprit;

        if (argument->after == NULL || argument->encoding != NULL ||
            !find_in(argument->dtype, argument->after,
                     argument->content_bytes / dtype_bytes(argument->dtype), &culprit)) {
            continue;
        }
        nonfinite->is_found = 1;
        if (find_in_weights(nonfinite, op)) {
            return;
        }
        case_content_shape(argument, shape);
        print_index(shape, argument->rank, culprit.index, index);
        (void)snprintf(nonfinite->sentence, sizeof(nonfinite->sentence),
                       "%s first arises in '%.300s' (%.100s): element %s of its output '%.100s'",
                       word_of(culprit.value), maker->instance, maker->op->name, index,
                       argument->name);
    }
}
