// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

struct wkv4 {
    const tapml_tensor *w, *u, *k, *v, *state, *y;
    size_t tokens;
};

// The past of a channel: sums of e^(k - m) v and e^(k - m), each decayed.
struct past {
    real n, d, m;
};

// Nothing has been seen where d is not above 0.
static struct past past_of(const tapml_tensor *state, size_t channel)
{
    const struct past none = {.m = (real)-1e38};
    const struct past past = {
        .n = ((const float *)value_row(state, 0))[channel],
        .d = ((const float *)value_row(state, 1))[channel],
        .m = ((const float *)value_row(state, 2))[channel],
    };

    return past.d > 0 ? past : none;
}

static void keep_past(const tapml_tensor *state, size_t channel, const struct past *past)
{
    ((float *)value_row(state, 0))[channel] = (float)past->n;
    ((float *)value_row(state, 1))[channel] = (float)past->d;
    ((float *)value_row(state, 2))[channel] = (float)past->m;
}

// The past with a token of weight e^k, behind a decay by e^w.
static struct past joined(const struct past *past, real w, real k, real v)
{
    const real top = fmax(past->m + w, k);
    const real kept = exp(past->m + w - top), added = exp(k - top);

    return (struct past){.n = kept * past->n + added * v, .d = kept * past->d + added, .m = top};
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct wkv4 *self = job;

    for (uint64_t channel = begin; channel < end; channel++) {
        const ptrdiff_t i = (ptrdiff_t)channel;
        const real w = value_read(value_of(self->w, 0), i), u = value_read(value_of(self->u, 0), i);
        struct past past = past_of(self->state, channel);

        for (size_t t = 0; t < self->tokens; t++) {
            const real k = value_read(value_of(self->k, t), i);
            const real v = value_read(value_of(self->v, t), i);
            const struct past seen = joined(&past, 0, u + k, v);

            value_write(value_of(self->y, t), i, (float)(seen.n / seen.d));
            past = joined(&past, w, k, v);
        }
        keep_past(self->state, channel, &past);
    }
}

static tapml_status wkv4(TAPML_WKV4_PARAMS)
{
    struct wkv4 self = {
        .w = w, .u = u, .k = k, .v = v, .state = state, .y = y, .tokens = (size_t)y->shape[0]};
    const struct work work = {
        .count = value_width(y),
        .unit_cost = 100 * (uint64_t)self.tokens,
        .body = compute,
        .job = &self,
    };
    const tapml_status status = work_run(queue, call, &work, y);

    if (status == TAPML_OK) {
        work_finish(queue, state);
    }
    return status;
}

const tapml_op_impl PRECISE(reference_wkv4) = TAPML_IMPL(tapml_wkv4, wkv4);
