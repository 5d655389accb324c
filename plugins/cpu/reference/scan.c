// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/scan_width.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

struct scan {
    enum reference_order order;
    const tapml_tensor *r, *w, *k, *v, *kk, *a, *state, *y; // kk and a are NULL together.
    bool reads_before;
    size_t heads, rows, width, tokens;
};

// What one token brings to one head.
struct moment {
    struct value_row r, w, k, kk, a;
    real value; // Of the row of the state.
};

static struct value_row
head_row(const struct scan *scan, const tapml_tensor *x, size_t t, size_t head)
{
    const size_t own = (size_t)x->shape[1];

    return value_of(x, t * own + head * own / scan->heads);
}

static real dot(const struct scan *scan, const real *state, struct value_row x)
{
    real sum = 0;

    for (size_t index = 0; index * ARITHMETIC_CHUNK < scan->width; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(scan->order, scan->width, ARITHMETIC_CHUNK, index);
        real terms[ARITHMETIC_CHUNK];

        for (size_t i = piece.begin; i < piece.end; i++) {
            terms[i - piece.begin] = state[i] * value_read(x, (ptrdiff_t)i);
        }
        arithmetic_sum(scan->order, terms, piece.end - piece.begin, &sum);
    }
    return sum;
}

// Takes a row of the state one token further and gives what is read of it.
static real step(const struct scan *scan, const struct moment *moment, real *state)
{
    const bool removes = scan->kk != NULL && scan->a != NULL;
    const ptrdiff_t w_step = value_width(scan->w) > 1;
    const ptrdiff_t a_step = removes && value_width(scan->a) > 1;
    const real before = scan->reads_before ? dot(scan, state, moment->r) : 0;
    const real removed = removes ? dot(scan, state, moment->kk) : 0;

    for (ptrdiff_t i = 0; i < (ptrdiff_t)scan->width; i++) {
        real next =
            state[i] * value_read(moment->w, i * w_step) + moment->value * value_read(moment->k, i);

        if (removes) {
            next -= removed * ((real)value_read(moment->kk, i) * value_read(moment->a, i * a_step));
        }
        state[i] = next;
    }
    return scan->reads_before ? before : dot(scan, state, moment->r);
}

static void scan_row(const struct scan *scan, size_t row)
{
    const size_t head = row / scan->rows;
    const ptrdiff_t column = (ptrdiff_t)(row % scan->rows);
    const struct value_row none = {0};
    float *kept = value_row(scan->state, row);
    real state[SCAN_WIDTH_MAX];

    for (size_t i = 0; i < scan->width; i++) {
        state[i] = kept[i];
    }
    for (size_t t = 0; t < scan->tokens; t++) {
        const struct moment moment = {
            .r = head_row(scan, scan->r, t, head),
            .w = head_row(scan, scan->w, t, head),
            .k = head_row(scan, scan->k, t, head),
            .kk = scan->kk != NULL ? head_row(scan, scan->kk, t, head) : none,
            .a = scan->kk != NULL ? head_row(scan, scan->a, t, head) : none,
            .value = value_read(head_row(scan, scan->v, t, head), column),
        };
        const struct value_row y = value_of(scan->y, t * scan->heads + head);

        value_write(y, column, (float)step(scan, &moment, state));
    }
    for (size_t i = 0; i < scan->width; i++) {
        kept[i] = (float)state[i];
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    for (uint64_t row = begin; row < end; row++) {
        scan_row(job, (size_t)row);
    }
}

static tapml_status linear_scan(TAPML_LINEAR_SCAN_PARAMS)
{
    struct scan scan = {
        .order = reference_device_of(queue)->order,
        .r = r,
        .w = w,
        .k = k,
        .v = v,
        .kk = kk,
        .a = a,
        .state = state,
        .y = y,
        .reads_before = read_before != 0,
        .heads = (size_t)state->shape[0],
        .rows = (size_t)state->shape[1],
        .width = value_width(state),
        .tokens = (size_t)y->shape[0],
    };
    const struct work work = {
        .count = value_row_count(state),
        .unit_cost = 8 * (uint64_t)scan.tokens * scan.width,
        .body = compute,
        .job = &scan,
    };
    const tapml_status status = work_run(queue, call, &work, y);

    if (status == TAPML_OK) {
        work_finish(queue, state);
    }
    return status;
}

const tapml_op_impl PRECISE(reference_linear_scan) = TAPML_IMPL(tapml_linear_scan, linear_scan);
