// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/experts.h"

#include "fast/operators.h"
#include "fast/outputs.h"
#include "reference/operators.h"
#include "reference/work.h"

#include <tapml/ops.h>

// An expert's weights are read once for all tokens that have chosen it. A unit of work is some
// outputs of one expert.
struct experts {
    const tapml_tensor *x, *indices, *y;
    const tapml_tensor *const *w, *const *b; // `b` is NULL where there are none.
    size_t slot_count, chosen_count, in, out;
    size_t row_count;   // Of y: a choice of a token each.
    size_t block_count; // Of the outputs of an expert.
};

// Adds the next rows from `*row` on that have chosen `expert`, as many as there is room for.
static void
collect(const struct experts *experts, size_t expert, size_t *row, struct outputs *outputs)
{
    for (outputs->row_count = 0; *row < experts->row_count && outputs->row_count < PRODUCT_BATCH;
         ++*row) {
        const size_t token = *row / experts->chosen_count, choice = *row % experts->chosen_count;
        const size_t slot = experts->slot_count > 1 ? choice : 0;
        const int32_t *chosen = value_row(experts->indices, token);

        if ((size_t)chosen[choice] == expert) {
            outputs->rows[outputs->row_count] =
                value_row(experts->x, token * experts->slot_count + slot);
            outputs->y[outputs->row_count++] = value_row(experts->y, *row);
        }
    }
}

static void compute_block(const struct experts *experts, size_t expert, size_t first)
{
    const size_t rest = experts->out - first;
    struct outputs outputs;
    size_t row = 0;

    outputs.w = experts->w[expert];
    outputs.b = experts->b != NULL ? experts->b[expert] : NULL;
    outputs.in = experts->in;
    outputs.first = first;
    outputs.count = rest < OUTPUTS_MAX ? rest : OUTPUTS_MAX;
    do {
        collect(experts, expert, &row, &outputs);
        if (outputs.row_count > 0) {
            LEVEL(outputs_compute)(&outputs);
        }
    } while (row < experts->row_count);
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct experts *experts = job;

    for (uint64_t unit = begin; unit < end; unit++) {
        compute_block(experts, (size_t)unit / experts->block_count,
                      (size_t)unit % experts->block_count * OUTPUTS_MAX);
    }
}

static tapml_status linear_experts(TAPML_LINEAR_EXPERTS_PARAMS)
{
    struct experts job = {
        .x = x,
        .indices = indices,
        .y = y,
        .w = w,
        .b = b_count > 0 ? b : NULL,
        .slot_count = (size_t)x->shape[1],
        .chosen_count = (size_t)y->shape[1],
        .in = value_width(x),
        .out = value_width(y),
        .row_count = value_row_count(y),
        .block_count = (value_width(y) + OUTPUTS_MAX - 1) / OUTPUTS_MAX,
    };
    const struct work work = {
        .count = w_count * job.block_count,
        .unit_cost = (uint64_t)job.row_count * job.in * OUTPUTS_MAX / w_count / VECTOR_LANES,
        .body = compute,
        .job = &job,
    };
    const tapml_status status = experts_check(queue, call, indices, w_count);

    if (transposed != 0) {
        return ((tapml_linear_experts_fn)reference_linear_experts_f32.fn)(
            queue, call, x, indices, w, w_count, b, b_count, transposed, y);
    }
    return status == TAPML_OK ? work_run(queue, call, &work, y) : status;
}

const tapml_op_impl LEVEL(experts_linear) = TAPML_IMPL(tapml_linear_experts, linear_experts);
