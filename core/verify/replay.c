// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/replay.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/timeline.h"
#include "store/case.h"
#include "verify/recast.h"

#include <stdio.h>
#include <string.h>

struct replay {
    struct guard *guard;
    struct backend *backend; // The guard's.
    struct replay_site site; // On it.
    uint64_t executions;
    struct arena *results; // Of the last run.
};

// A case that is replayed, or was queued.
struct running {
    struct replay *replay;
    struct replay_call call;
    struct replay_result *result;
};

tapml_status replay_create(struct backend *backend,
                           const struct checkpoint *checkpoint,
                           struct replay **out_replay)
{
    struct replay *replay = alloc_new(sizeof(*replay));
    if (!replay) {
        return status_no_memory();
    }
    tapml_status status = guard_create(backend, &replay->guard);
    if (status == TAPML_OK) {
        guard_measure(replay->guard, 0);
        replay->backend = guard_backend(replay->guard);
        status = replay_site_open(replay->backend, checkpoint, &replay->site);
    }
    if (status != TAPML_OK) {
        replay_destroy(replay);
        return status;
    }
    *out_replay = replay;
    return TAPML_OK;
}

void replay_destroy(struct replay *replay)
{
    if (!replay) {
        return;
    }
    replay_site_close(&replay->site);
    guard_destroy(replay->guard);
    arena_destroy(replay->results);
    alloc_free(replay);
}

static struct backend_call backend_call_of(const struct replay_call *call)
{
    return (struct backend_call){.op = call->op,
                                 .args = call->args,
                                 .inferred = &call->inferred,
                                 .instance = call->item->instance,
                                 .is_extra = call->item->is_derived};
}

static tapml_status perform(const struct running *running)
{
    const struct backend_call call = backend_call_of(&running->call);
    running->replay->executions++;
    return backend_call(running->replay->backend, &call);
}

static tapml_status skip(struct running *running, enum replay_outcome outcome, const char *reason)
{
    running->result->outcome = outcome;
    (void)snprintf(running->result->reason, sizeof(running->result->reason), "%s", reason);
    return TAPML_OK;
}

// What the guard finds is a result, not a failure.
static tapml_status take_violation(const struct running *running, tapml_status status)
{
    struct replay_result *result = running->result;
    const struct guard_violation *violation = guard_violation(running->replay->guard);
    if (violation->kind == GUARD_CLEAN) {
        return status;
    }
    (void)snprintf(result->reason, sizeof(result->reason), "%s", violation->what);
    return TAPML_OK;
}

// A second run for its time: kernels are made, and nothing is read around it.
static tapml_status call_timed(const struct running *running)
{
    struct guard *guard = running->replay->guard;
    guard_watch(guard, 0);
    const tapml_status status = perform(running);
    guard_watch(guard, 1);
    running->result->time_ns = guard_time_ns(guard);
    return status;
}

// Takes what was computed out of what the guard found after the call.
static tapml_status take_output(const struct running *running, uint32_t index)
{
    const struct case_argument *argument = &running->call.item->arguments[index];
    const struct case_argument *given = &running->call.given->arguments[index];
    struct replay_output *output = &running->result->outputs[running->result->output_count];
    const void *found = guard_found(running->replay->guard, running->call.slots[index].buffer);
    ASSERT(found); // It checked the call.
    TAPML_TRY(replay_output_take(argument, found, running->call.arena, output));
    running->result->output_count++;
    output->expected = given->after;
    if (argument->dtype != given->dtype) {
        TAPML_TRY(recast_widen_output(running->call.op,
                                      backend_info(running->replay->backend)->activation,
                                      running->call.arena, output));
    }
    return output->expected ? recast_drop_zero_signs(running->call.given, running->call.op,
                                                     running->call.arena, output)
                            : TAPML_OK;
}

// Puts what the guard found at the output that it is about: the first one where it is an input.
static void mark_output(const struct running *running, const struct guard_violation *violation)
{
    struct replay_result *result = running->result;
    const char *param = running->call.item->arguments[violation->param].name;
    uint32_t at = 0;
    for (uint32_t i = 0; i < result->output_count; i++) {
        at = strcmp(result->outputs[i].param, param) == 0 ? i : at;
    }
    if (result->output_count > 0) {
        result->outputs[at].wrote_outside = violation->kind == GUARD_OUTSIDE;
        result->outputs[at].is_unwritten = violation->kind != GUARD_OUTSIDE;
    }
}

static tapml_status take_outputs(const struct running *running)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < running->call.op->n_params; i++) {
        count += case_is_output(&running->call.item->arguments[i]) ? 1 : 0;
    }
    if (count > REPLAY_OUTPUTS_MAX) {
        return status_fail(TAPML_UNIMPLEMENTED, "it has %u outputs, at most %d are compared", count,
                           REPLAY_OUTPUTS_MAX);
    }
    for (uint32_t i = 0; i < running->call.op->n_params; i++) {
        if (case_is_output(&running->call.item->arguments[i])) {
            TAPML_TRY(take_output(running, i));
        }
    }
    return TAPML_OK;
}

// What a call does to a state says something about its op only if the state was right before.
static tapml_status check_states(struct running *running)
{
    for (uint32_t i = 0; i < running->call.op->n_params; i++) {
        const struct replay_slot *slot = &running->call.slots[i];
        if (slot->buffer && guard_buffer_own(slot->buffer)->was_other) {
            char reason[128];
            (void)snprintf(reason, sizeof(reason),
                           "before the call state '%.40s' was not what had been written to it",
                           running->call.item->arguments[i].name);
            return skip(running, REPLAY_SKIPPED, reason);
        }
    }
    return TAPML_OK;
}

// Takes what a call has left, and says whether it has done no harm.
static tapml_status take_result(struct running *running, int *out_is_clean)
{
    struct replay_result *result = running->result;
    const struct guard_violation *violation = guard_violation(running->replay->guard);
    *out_is_clean = 0;
    TAPML_TRY(check_states(running));
    if (result->outcome != REPLAY_RAN) {
        return TAPML_OK;
    }
    TAPML_TRY(take_outputs(running));
    *out_is_clean = violation->kind == GUARD_CLEAN;
    if (!*out_is_clean) {
        mark_output(running, violation);
    }
    return violation->is_weight ? replay_site_renew(&running->replay->site) : TAPML_OK;
}

// All before the call. Where the case cannot be run, the outcome says so.
static tapml_status prepare(struct replay_call *call)
{
    TAPML_TRY(replay_call_describe(call));
    if (call->outcome == REPLAY_RAN) {
        TAPML_TRY(replay_call_ask(call));
    }
    if (call->outcome == REPLAY_RAN) {
        TAPML_TRY(replay_call_draw(call));
    }
    return call->outcome == REPLAY_RAN ? replay_call_bind(call) : TAPML_OK;
}

static tapml_status run(struct running *running, int timed)
{
    int is_clean = 0;
    TAPML_TRY(prepare(&running->call));
    if (running->call.outcome != REPLAY_RAN) {
        return skip(running, running->call.outcome, running->call.reason);
    }
    guard_learn(running->replay->guard, !timed);
    TAPML_TRY(take_violation(running, perform(running)));
    TAPML_TRY(take_result(running, &is_clean));
    return timed && is_clean ? call_timed(running) : TAPML_OK;
}

// Ends the use of all that the run has taken: only what is large or of no use later is freed.
static void end(struct running *running)
{
    spare_buffers_end(&running->replay->site.spare);
    guard_trim(running->replay->guard);
    arena_destroy(running->call.images);
}

static struct replay_call
begin_call(struct replay *replay, const struct carved_case *item, const struct compiled_op *schema)
{
    return (struct replay_call){.site = &replay->site,
                                .given = item,
                                .item = item,
                                .schema = schema,
                                .op = schema->op,
                                .arena = arena_create(),
                                .images = arena_create()};
}

tapml_status replay_run(struct replay *replay,
                        const struct carved_case *item,
                        const struct compiled_op *schema,
                        int timed,
                        struct replay_result *out_result)
{
    struct replay_result result = {.outcome = REPLAY_RAN};
    struct running running = {
        .replay = replay, .call = begin_call(replay, item, schema), .result = &result};
    arena_destroy(replay->results);
    replay->results = running.call.arena;
    const uint64_t begin_ns = timeline_begin(timeline_mine());
    tapml_status status =
        running.call.arena && running.call.images ? run(&running, timed) : status_no_memory();
    if (status != TAPML_OK || result.outcome != REPLAY_RAN) {
        // What is under way reads memory of this run; where the device is lost, nothing reads.
        char message[512];
        (void)snprintf(message, sizeof(message), "%s", status_message());
        (void)backend_wait(replay->backend);
        if (status != TAPML_OK) {
            status = status_fail(status, "%.100s: %s", item->instance, message);
        }
    }
    end(&running);
    timeline_end(timeline_mine(), begin_ns,
                 &(struct timeline_span){.kind = "replay",
                                         .name = backend_info(replay->backend)->component,
                                         .detail = item->instance});
    TAPML_TRY(status);
    *out_result = result;
    return TAPML_OK;
}

// -- Cases that are queued ahead -----------------------------------------------------------------

struct replay_flight {
    struct running running;
    struct replay_result result;
    struct guard_flight *guarded;
    const struct residency *held; // Weights, and the buffers of the call; NULL: nothing.
    int timed;
};

tapml_status replay_flight_create(struct replay_flight **out_flight)
{
    struct replay_flight *flight = alloc_new(sizeof(*flight));
    if (!flight) {
        return status_no_memory();
    }
    const tapml_status status = guard_flight_create(&flight->guarded);
    if (status != TAPML_OK) {
        alloc_free(flight);
        return status;
    }
    *out_flight = flight;
    return TAPML_OK;
}

// What the guard looks at when the call lands is there until then, whatever else is queued.
static void hold(struct replay_flight *flight)
{
    const struct replay_call *call = &flight->running.call;
    flight->held = replay_site_hold(call->site);
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        if (call->slots[i].buffer) {
            spare_buffers_hold(&call->site->spare, call->slots[i].buffer);
        }
    }
}

static void let_go(struct replay_flight *flight)
{
    const struct replay_call *call = &flight->running.call;
    for (uint32_t i = 0; flight->held && i < call->op->n_params; i++) {
        if (call->slots[i].buffer) {
            spare_buffers_let_go(&call->site->spare, call->slots[i].buffer);
        }
    }
    if (flight->held) {
        replay_site_let_go(call->site, flight->held);
        flight->held = NULL;
    }
}

static void empty(struct replay_flight *flight)
{
    let_go(flight);
    arena_destroy(flight->running.call.arena);
    arena_destroy(flight->running.call.images);
    flight->running = (struct running){.result = &flight->result};
}

void replay_flight_destroy(struct replay_flight *flight)
{
    if (flight) {
        empty(flight);
        guard_flight_destroy(flight->guarded);
        alloc_free(flight);
    }
}

tapml_status replay_ready(struct replay *replay,
                          const struct carved_case *item,
                          const struct compiled_op *schema,
                          struct replay_flight *flight,
                          int *out_is_ready,
                          uint64_t *out_bytes)
{
    struct replay_call *call = &flight->running.call;
    empty(flight);
    flight->result = (struct replay_result){.outcome = REPLAY_RAN};
    flight->running.replay = replay;
    *call = begin_call(replay, item, schema);
    tapml_status status =
        call->arena && call->images ? replay_call_describe(call) : status_no_memory();
    if (status == TAPML_OK && call->outcome == REPLAY_RAN) {
        status = replay_call_draw(call);
    }
    *out_is_ready = status == TAPML_OK && call->outcome == REPLAY_RAN;
    *out_bytes = *out_is_ready ? replay_call_bytes(call) : 0;
    return status == TAPML_NO_MEMORY ? status : TAPML_OK;
}

tapml_status replay_ask(struct replay_flight *flight)
{
    return replay_call_ask(&flight->running.call);
}

tapml_status replay_queue(struct replay_flight *flight, int timed)
{
    struct replay *replay = flight->running.replay;
    struct replay_call *call = &flight->running.call;
    flight->timed = timed;
    tapml_status status = call->outcome == REPLAY_RAN ? replay_call_bind(call) : TAPML_OK;
    if (status == TAPML_OK && call->outcome == REPLAY_RAN) {
        const struct backend_call queued = backend_call_of(call);
        hold(flight);
        status = guard_queue(replay->guard, &queued, timed, flight->guarded);
    }
    spare_buffers_leave(&replay->site.spare);
    return status;
}

void replay_settled(struct replay *replay)
{
    spare_buffers_end(&replay->site.spare);
}

static tapml_status land(struct replay_flight *flight, int *out_is_clean)
{
    struct running *running = &flight->running;
    struct replay *replay = running->replay;
    replay->executions++;
    TAPML_TRY(take_violation(running, guard_land(replay->guard, flight->guarded)));
    TAPML_TRY(take_result(running, out_is_clean));
    if (*out_is_clean && flight->timed) {
        replay->executions++;
        flight->result.time_ns = guard_time_ns(replay->guard);
    }
    return TAPML_OK;
}

tapml_status
replay_land(struct replay_flight *flight, struct replay_result *out_result, int *out_is_clean)
{
    const struct replay_call *call = &flight->running.call;
    tapml_status status = TAPML_OK;
    *out_is_clean = 1;
    if (call->outcome == REPLAY_RAN) {
        status = land(flight, out_is_clean);
        guard_trim(flight->running.replay->guard);
        let_go(flight);
    } else {
        status = skip(&flight->running, call->outcome, call->reason);
    }
    *out_result = flight->result;
    return status;
}

uint64_t replay_executions(const struct replay *replay)
{
    return replay->executions;
}
