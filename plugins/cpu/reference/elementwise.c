// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

struct elementwise {
    real (*function)(real a, real b);
    const tapml_tensor *a, *b, *y;
    ptrdiff_t a_step, b_step, width;
};

static real sum(real a, real b)
{
    return a + b;
}

static real product(real a, real b)
{
    return a * b;
}

static real difference(real a, real b)
{
    return a - b;
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct elementwise *op = job;

    for (uint64_t r = begin; r < end; r++) {
        const struct value_row a = value_of(op->a, (size_t)r), b = value_of(op->b, (size_t)r);
        const struct value_row y = value_of(op->y, (size_t)r);

        for (ptrdiff_t i = 0; i < op->width; i++) {
            const real left = value_read(a, i * op->a_step), right = value_read(b, i * op->b_step);

            value_write(y, i, (float)op->function(left, right));
        }
    }
}

static tapml_status run(tapml_object *queue, tapml_call *call, struct elementwise *op)
{
    op->width = (ptrdiff_t)value_width(op->y);
    op->a_step = value_stride(op->a, op->a->rank - 1);
    op->b_step = value_stride(op->b, op->b->rank - 1);

    const struct work work = {
        .count = value_row_count(op->y),
        .unit_cost = 8 * (uint64_t)op->width,
        .body = compute,
        .job = op,
    };

    return work_run(queue, call, &work, op->y);
}

static tapml_status add(TAPML_ADD_PARAMS)
{
    return run(queue, call, &(struct elementwise){.function = sum, .a = a, .b = b, .y = y});
}

static tapml_status mul(TAPML_MUL_PARAMS)
{
    return run(queue, call, &(struct elementwise){.function = product, .a = a, .b = b, .y = y});
}

static tapml_status sub(TAPML_SUB_PARAMS)
{
    return run(queue, call, &(struct elementwise){.function = difference, .a = a, .b = b, .y = y});
}

const tapml_op_impl PRECISE(reference_add) = TAPML_IMPL(tapml_add, add);
const tapml_op_impl PRECISE(reference_mul) = TAPML_IMPL(tapml_mul, mul);
const tapml_op_impl PRECISE(reference_sub) = TAPML_IMPL(tapml_sub, sub);
