// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend around one that is right, whose results depend on what a test says: on the call, on how
// many there were, on whether another one is inside.
#pragma once

#include "judged_store.h"
#include "verify/invariance.h"
#include "verify/invariance_rows.h"

#include <tapml/ops.h>

#include <stdatomic.h>

// How much a call changes the first number of its last output: 0, one unit in the last place, or
// what any limit sees.
enum harm { HARM_NONE, HARM_ULP, HARM_WRONG };

struct varying {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    enum harm (*look)(const struct backend_call *call, int calls);
    int calls;
};

static inline const tapml_tensor *last_output(const struct backend_call *call)
{
    const tapml_tensor *output = NULL;
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const int is_out =
            call->args[i].kind == TAPML_P_TENSOR_OUT || call->args[i].kind == TAPML_P_TENSOR_INOUT;
        output = is_out ? call->args[i].u.p : output;
    }
    return output;
}

// Where the first number that the call has written lies.
static inline uint64_t first_at(const struct backend_call *call, const tapml_tensor *output)
{
    const int is_append =
        call->op == &tapml_state_append || strcmp(call->op->name, tapml_state_append.name) == 0;
    const int64_t row = output->shape[output->rank - 1] * (output->rank > 2 ? output->shape[1] : 1);
    return output->offset +
           (is_append ? (uint64_t)(call->args[TAPML_STATE_APPEND_POSITION].u.i * row) * 4 : 0);
}

static inline tapml_status varying_call(struct backend *backend, const struct backend_call *call)
{
    struct varying *varying = (struct varying *)backend;
    struct backend *inner = varying->wrapper.inner;
    const tapml_tensor *output = last_output(call);
    const enum harm harm = varying->look ? varying->look(call, ++varying->calls) : HARM_NONE;
    float values[TAPML_TRANSFER_GRAIN];
    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_read(inner, output->buffer, first_at(call, output), values, 4));
    TAPML_TRY(backend_wait(inner));
    values[0] = harm == HARM_ULP     ? nextafterf(values[0], INFINITY)
                : harm == HARM_WRONG ? values[0] + 1
                                     : values[0];
    TAPML_TRY(backend_write(inner, output->buffer, first_at(call, output), values, 4));
    return backend_wait(inner);
}

static inline struct backend *vary(struct varying *varying,
                                   struct backend *inner,
                                   enum harm (*look)(const struct backend_call *, int))
{
    *varying = (struct varying){.vt = backend_forward_vt, .look = look};
    varying->vt.call = varying_call;
    varying->wrapper = (struct backend_wrapper){.backend = {.vt = &varying->vt}, .inner = inner};
    return &varying->wrapper.backend;
}

static inline int64_t rows_of(const struct backend_call *call)
{
    const tapml_tensor *rows = strcmp(call->op->name, tapml_state_append.name) == 0
                                   ? call->args[TAPML_STATE_APPEND_ROWS].u.p
                                   : call->args[0].u.p;
    return rows->shape[0];
}

// Tries an axis of the case 1 of the store on a backend.
static inline struct invariance_finding
try_axis(struct backend *backend,
         tapml_status (*try_one)(struct invariance_trial *, const struct carved_case *),
         struct arena *arena)
{
    const struct verdict_options options = options_for(backend);
    struct invariance_trial trial = {.texts = arena, .finding = invariance_trial_none()};
    struct carved_case item;
    MUST(examiner_create(&options, &trial.examiner));
    MUST(stored_case_load(store, 1, arena, &item));
    trial.schema = examiner_schema(trial.examiner, &item);
    MUST(try_one(&trial, &item));
    examiner_destroy(trial.examiner);
    return trial.finding;
}
