// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/experts.h"

#include "reference/operators.h"
#include "reference/product.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

enum { LANES = ARITHMETIC_LANES };

struct experts {
    enum reference_order order;
    const tapml_tensor *x, *indices, *y;
    const tapml_tensor *const *w, *const *b; // `b` is NULL where there are none.
    bool transposed;
    size_t slot_count, chosen_count, in, out;
};

// One choice of one token.
static void compute_row(const struct experts *experts, size_t row)
{
    const size_t token = row / experts->chosen_count, choice = row % experts->chosen_count;
    const size_t slot = experts->slot_count > 1 ? choice : 0;
    const int32_t *indices = value_row(experts->indices, token);
    const size_t e = (size_t)indices[choice];
    struct product_columns columns = {.w = experts->w[e], .transposed = experts->transposed};
    const struct product product = {
        .order = experts->order,
        .term_count = experts->in,
        .row_count = 1,
        .rows = {value_of(experts->x, token * experts->slot_count + slot)},
        .pack = PRECISE(product_pack),
        .source = &columns,
    };
    const struct value_row y = value_of(experts->y, row);

    for (; columns.first < experts->out; columns.first += LANES) {
        const size_t rest = experts->out - columns.first;
        real sums[1][LANES];
        float bias[LANES] = {0};

        columns.count = rest < LANES ? rest : LANES;
        if (experts->b != NULL) {
            value_get(experts->b[e], columns.first, columns.count, bias);
        }
        PRECISE(product_compute)(&product, sums);
        for (size_t lane = 0; lane < columns.count; lane++) {
            value_write(y, (ptrdiff_t)(columns.first + lane),
                        (float)(sums[0][lane] + (real)bias[lane]));
        }
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    for (uint64_t row = begin; row < end; row++) {
        compute_row(job, (size_t)row);
    }
}

static tapml_status linear_experts(TAPML_LINEAR_EXPERTS_PARAMS)
{
    struct experts job = {
        .order = reference_device_of(queue)->order,
        .x = x,
        .indices = indices,
        .y = y,
        .w = w,
        .b = b_count > 0 ? b : NULL,
        .transposed = transposed != 0,
        .slot_count = (size_t)x->shape[1],
        .chosen_count = (size_t)y->shape[1],
        .in = value_width(x),
        .out = value_width(y),
    };
    const struct work work = {
        .count = value_row_count(y),
        .unit_cost = (uint64_t)job.in * job.out,
        .body = compute,
        .job = &job,
    };

    const tapml_status status = experts_check(queue, call, indices, w_count);

    return status == TAPML_OK ? work_run(queue, call, &work, y) : status;
}

struct weighted {
    enum reference_order order;
    const tapml_tensor *x, *weights, *y;
    size_t chosen_count, width;
};

static void add_token(const struct weighted *sum, size_t token)
{
    const struct value_row weights = value_of(sum->weights, token), y = value_of(sum->y, token);

    for (size_t i = 0; i < sum->width; i++) {
        real total = 0;

        for (size_t index = 0; index * ARITHMETIC_CHUNK < sum->chosen_count; index++) {
            const struct arithmetic_piece piece =
                arithmetic_piece(sum->order, sum->chosen_count, ARITHMETIC_CHUNK, index);
            real terms[ARITHMETIC_CHUNK];

            for (size_t j = piece.begin; j < piece.end; j++) {
                const struct value_row x = value_of(sum->x, token * sum->chosen_count + j);

                terms[j - piece.begin] =
                    (real)value_read(weights, (ptrdiff_t)j) * (real)value_read(x, (ptrdiff_t)i);
            }
            arithmetic_sum(sum->order, terms, piece.end - piece.begin, &total);
        }
        value_write(y, (ptrdiff_t)i, (float)total);
    }
}

static void add_tokens(void *job, uint64_t begin, uint64_t end)
{
    for (uint64_t token = begin; token < end; token++) {
        add_token(job, (size_t)token);
    }
}

static tapml_status weighted_sum(TAPML_WEIGHTED_SUM_PARAMS)
{
    struct weighted job = {
        .order = reference_device_of(queue)->order,
        .x = x,
        .weights = weights,
        .y = y,
        .chosen_count = (size_t)x->shape[1],
        .width = value_width(x),
    };
    const struct work work = {
        .count = value_row_count(y),
        .unit_cost = 2 * (uint64_t)job.width * job.chosen_count,
        .body = add_tokens,
        .job = &job,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(reference_linear_experts) = TAPML_IMPL(tapml_linear_experts,
                                                                   linear_experts);
const tapml_op_impl PRECISE(reference_weighted_sum) = TAPML_IMPL(tapml_weighted_sum, weighted_sum);
