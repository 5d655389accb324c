// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend around one that is right, which computes silu in the ways of kernels that please a
// test; and what opens it as a process in which nothing was called.
#pragma once

#include "base/alloc.h"
#include "judged_store.h"
#include "verify/conduct_stand.h"

#include <tapml/ops.h>

enum trick {
    TRICK_NONE,
    TRICK_ZEROS,    // Every output is 0.
    TRICK_DRIFTS,   // From the fifth call on the first number is wrong.
    TRICK_REPEATS,  // What was computed for an address is what belongs to it.
    TRICK_CARRIES,  // The result of the call before is added, as long as there was one.
    TRICK_ADDS,     // What was in the output is added.
    TRICK_DISTURBS, // Changes its input.
    TRICK_LEAVES,   // Writes nothing.
    TRICK_NARROW,   // Right for two rows alone.
    TRICK_TIMID,    // Right for small numbers alone.
    TRICK_FAILS,
    TRICK_HANGS // As what a worker's end says of a call that did not answer.
};

enum { TRICK_FLOATS = 512 * 512, TRICK_CACHED = 64 };

struct tricky {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    enum trick trick;
    int calls;
    float carried;
    struct {
        tapml_object *buffer;
        uint64_t count;
        float *values;
    } cached[TRICK_CACHED];
    int cached_count;
};

static inline uint64_t trick_count(const tapml_tensor *tensor)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        count *= (uint64_t)tensor->shape[i];
    }
    return count;
}

// What is known of an address, in place of what was computed.
static inline void
trick_repeat(struct tricky *tricky, tapml_object *buffer, float *values, uint64_t count)
{
    for (int i = 0; i < tricky->cached_count; i++) {
        if (tricky->cached[i].buffer == buffer && tricky->cached[i].count == count) {
            memcpy(values, tricky->cached[i].values, count * sizeof(*values));
            return;
        }
    }
    if (tricky->cached_count < TRICK_CACHED) {
        float *copy = alloc_array(count, sizeof(*copy));
        cr_assert_not_null(copy);
        memcpy(copy, values, count * sizeof(*values));
        tricky->cached[tricky->cached_count].buffer = buffer;
        tricky->cached[tricky->cached_count].count = count;
        tricky->cached[tricky->cached_count++].values = copy;
    }
}

static inline float trick_largest(const float *values, uint64_t count)
{
    float largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        largest = fmaxf(largest, fabsf(values[i]));
    }
    return largest;
}

// Changes the numbers of an output that is right.
static inline void trick_change(struct tricky *tricky,
                                const tapml_tensor *x,
                                float *values,
                                const float *before,
                                uint64_t count)
{
    switch (tricky->trick) {
    case TRICK_ZEROS:
        memset(values, 0, count * sizeof(*values));
        break;
    case TRICK_DRIFTS:
        values[0] += tricky->calls >= 5 ? 1 : 0;
        break;
    case TRICK_REPEATS:
        trick_repeat(tricky, x->buffer, values, count);
        break;
    case TRICK_CARRIES:
        values[0] += tricky->carried;
        tricky->carried = tricky->carried == 0 ? 1 : 0;
        break;
    case TRICK_ADDS:
        for (uint64_t i = 0; i < count; i++) {
            values[i] += before[i];
        }
        break;
    case TRICK_LEAVES:
        memcpy(values, before, count * sizeof(*values));
        break;
    case TRICK_NARROW:
        values[0] += x->shape[0] != CASES_ROWS ? 1 : 0;
        break;
    case TRICK_TIMID:
        values[0] += trick_largest(values, count) > 50 ? 1 : 0;
        break;
    case TRICK_NONE:
    case TRICK_DISTURBS:
    case TRICK_FAILS:
    case TRICK_HANGS:
        break;
    }
}

static inline tapml_status
trick_around(struct tricky *tricky, const struct backend_call *call, float *values, float *before)
{
    struct backend *inner = tricky->wrapper.inner;
    const tapml_tensor *x = call->args[TAPML_SILU_X].u.p;
    const tapml_tensor *y = call->args[TAPML_SILU_Y].u.p;
    const uint64_t count = trick_count(y);
    const uint64_t bytes = count * sizeof(*values);
    TAPML_TRY(backend_read(inner, y->buffer, y->offset, before, bytes));
    TAPML_TRY(backend_wait(inner));
    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_read(inner, y->buffer, y->offset, values, bytes));
    TAPML_TRY(backend_wait(inner));
    trick_change(tricky, x, values, before, count);
    if (tricky->trick == TRICK_DISTURBS) {
        TAPML_TRY(backend_fill(inner, x->buffer, x->offset, sizeof(float), 0x3f800000));
    }
    TAPML_TRY(backend_write(inner, y->buffer, y->offset, values, bytes));
    return backend_wait(inner);
}

static tapml_status trick_call(struct backend *backend, const struct backend_call *call)
{
    struct tricky *tricky = (struct tricky *)backend;
    const uint64_t count = trick_count(call->args[TAPML_SILU_Y].u.p);
    float *values = alloc_array(2 * count, sizeof(*values));
    cr_assert_not_null(values);
    tricky->calls++;
    const tapml_status status =
        tricky->trick == TRICK_FAILS   ? status_fail(TAPML_INTERNAL, "tricked")
        : tricky->trick == TRICK_HANGS ? status_fail(TAPML_DEADLINE, "no answer")
                                       : trick_around(tricky, call, values, values + count);
    alloc_free(values);
    return status;
}

static struct tricky tricky;

static inline void trick_forget(void)
{
    while (tricky.cached_count > 0) {
        alloc_free(tricky.cached[--tricky.cached_count].values);
    }
    tricky.calls = 0;
    tricky.carried = 0;
}

// `user` is the trick.
static inline tapml_status trick_open(void *user, struct backend **out_backend)
{
    const enum trick trick = *(const enum trick *)user;
    trick_forget();
    tricky.trick = trick;
    tricky.vt = backend_forward_vt;
    tricky.vt.call = trick_call;
    tricky.wrapper = (struct backend_wrapper){.backend = {.vt = &tricky.vt}, .inner = exact};
    *out_backend = &tricky.wrapper.backend;
    return TAPML_OK;
}

static inline struct conduct_options trick_options(enum trick *trick)
{
    return (struct conduct_options){
        .verdicts = {.registry = plugins.registry, .store = store, .target = "kernel"},
        .open = trick_open,
        .rounds = 10,
        .seed = 3,
        .user = trick};
}

static inline void tricky_begin(void)
{
    judged_store_begin();
    add_silu("layers.0/silu", 0, 0);
    add_silu("layers.1/silu", 0, 0);
}

static inline void tricky_end(void)
{
    trick_forget();
    judged_store_end();
}
