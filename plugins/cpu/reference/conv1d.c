// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <string.h>

struct conv1d {
    enum reference_order order;
    const tapml_tensor *x, *w, *b, *tail, *y; // `b` is NULL where there is none.
    size_t width, taps;
};

// Row `index` of what the convolution runs over: the tail, then the inputs of this call.
static struct value_row past_row(const struct conv1d *conv, size_t index)
{
    return index < conv->taps - 1 ? value_of(conv->tail, index)
                                  : value_of(conv->x, index - (conv->taps - 1));
}

static real channel_at(const struct conv1d *conv, size_t row, size_t channel)
{
    real sum = 0;

    for (size_t index = 0; index * ARITHMETIC_CHUNK < conv->taps; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(conv->order, conv->taps, ARITHMETIC_CHUNK, index);
        real terms[ARITHMETIC_CHUNK];
        float weights[ARITHMETIC_CHUNK];

        value_panel_get(conv->w, channel, piece.begin, piece.end - piece.begin, weights);
        for (size_t i = piece.begin; i < piece.end; i++) {
            terms[i - piece.begin] = (real)value_read(past_row(conv, row + i), (ptrdiff_t)channel) *
                                     weights[i - piece.begin];
        }
        arithmetic_sum(conv->order, terms, piece.end - piece.begin, &sum);
    }
    return sum;
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct conv1d *conv = job;

    for (uint64_t row = begin; row < end; row++) {
        const struct value_row y = value_of(conv->y, (size_t)row);

        for (size_t channel = 0; channel < conv->width; channel++) {
            const real sum = channel_at(conv, (size_t)row, channel);
            float bias = 0;

            if (conv->b != NULL) {
                value_get(conv->b, channel, 1, &bias);
            }
            value_write(y, (ptrdiff_t)channel, (float)(sum + (real)bias));
        }
    }
}

// Rows move towards the front, so that what is read is not yet written.
static void move_tail(const struct conv1d *conv)
{
    const size_t tokens = value_row_count(conv->x);
    const size_t row_bytes = conv->width * TAPML_DT_BYTES(conv->tail->dtype);

    for (size_t i = 0; i + 1 < conv->taps; i++) {
        memmove(value_row(conv->tail, i), past_row(conv, tokens + i).data, row_bytes);
    }
}

static tapml_status conv1d_causal(TAPML_CONV1D_CAUSAL_PARAMS)
{
    struct conv1d conv = {
        .order = reference_device_of(queue)->order,
        .x = x,
        .w = w,
        .b = b,
        .tail = tail,
        .y = y,
        .width = value_width(x),
        .taps = value_width(w),
    };
    const struct work work = {
        .count = value_row_count(x),
        .unit_cost = 8 * (uint64_t)conv.width * conv.taps,
        .body = compute,
        .job = &conv,
    };
    const tapml_status status = work_run(queue, call, &work, y);

    if (status == TAPML_OK) {
        move_tail(&conv);
        work_finish(queue, tail);
    }
    return status;
}

const tapml_op_impl PRECISE(reference_conv1d_causal) = TAPML_IMPL(tapml_conv1d_causal,
                                                                  conv1d_causal);
