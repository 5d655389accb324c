// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/operators.h"
#include "fast/vector.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <stdbool.h>

struct elementwise {
    const tapml_tensor *a, *b, *y;
    bool is_product;
    size_t width;
};

VECTOR_INLINE vector combine(bool is_product, vector a, vector b)
{
    return is_product ? a * b : a + b;
}

VECTOR_INLINE void
combine_row(bool is_product, const float *a, const float *b, size_t width, float *y)
{
    size_t i = 0;

    for (; i + VECTOR_LANES <= width; i += VECTOR_LANES) {
        vector_store(y + i, combine(is_product, vector_load(TAPML_F32, a + i),
                                    vector_load(TAPML_F32, b + i)));
    }
    vector_store_some(y + i,
                      combine(is_product, vector_load_some(TAPML_F32, a + i, width - i),
                              vector_load_some(TAPML_F32, b + i, width - i)),
                      width - i);
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct elementwise *op = job;

    for (uint64_t r = begin; r < end; r++) {
        const float *a = value_row(op->a, (size_t)r), *b = value_row(op->b, (size_t)r);
        float *y = value_row(op->y, (size_t)r);

        if (op->is_product) {
            combine_row(true, a, b, op->width, y);
        } else {
            combine_row(false, a, b, op->width, y);
        }
    }
}

// The rows of both operands are contiguous: nothing is repeated along them.
static bool is_plain(const tapml_tensor *a, const tapml_tensor *b)
{
    return value_stride(a, a->rank - 1) == 1 && value_stride(b, b->rank - 1) == 1;
}

static tapml_status run(tapml_object *queue, tapml_call *call, struct elementwise *op)
{
    op->width = value_width(op->y);

    const struct work work = {
        .count = value_row_count(op->y),
        .unit_cost = 1 + (uint64_t)op->width / 4,
        .body = compute,
        .job = op,
    };

    return work_run(queue, call, &work, op->y);
}

static tapml_status add(TAPML_ADD_PARAMS)
{
    if (!is_plain(a, b)) {
        return ((tapml_add_fn)reference_add_f32.fn)(queue, call, a, b, y);
    }
    return run(queue, call, &(struct elementwise){.a = a, .b = b, .y = y});
}

static tapml_status mul(TAPML_MUL_PARAMS)
{
    if (!is_plain(a, b)) {
        return ((tapml_mul_fn)reference_mul_f32.fn)(queue, call, a, b, y);
    }
    return run(queue, call, &(struct elementwise){.a = a, .b = b, .y = y, .is_product = true});
}

const tapml_op_impl LEVEL(elementwise_add) = TAPML_IMPL(tapml_add, add);
const tapml_op_impl LEVEL(elementwise_mul) = TAPML_IMPL(tapml_mul, mul);
