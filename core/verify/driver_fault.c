// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/driver_fault.h"

#include "base/alloc.h"
#include "base/random.h"
#include "schema/infer.h"
#include "verify/fault_process.h"

#include <string.h>

// What a driver that moves vectors loses of a transfer: the bytes behind the last one.
enum { VECTOR_BYTES = 16 };

struct driver_rule {
    struct fault_rule rule;
    struct random random;
    int64_t met;        // Transfers or launches that the kind could corrupt.
    uint64_t triggered; // Of those, what was corrupted.
};

// A write that is held back until the next thing that is queued is done.
struct late_write {
    tapml_object *buffer; // NULL: none.
    uint64_t offset, size;
    const void *source;
};

struct driver_fault {
    struct backend_wrapper wrapper; // First: a backend is a driver_fault.
    struct backend_vt vt;
    struct driver_rule *items;
    size_t count;
    struct late_write late;
    const tapml_op *last_op; // Of the last launch, with its arguments; or NULL.
    tapml_value last[COMPILED_PARAMS_MAX];
};

int driver_fault_is_wanted(const struct fault_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fault_rule_is_driver(&rules[i])) {
            return 1;
        }
    }
    return 0;
}

// Counts a transfer or a launch; whether a rule of the kind corrupts it.
static int meets(struct driver_fault *fault, enum fault_kind kind)
{
    int is_met = 0;
    for (size_t i = 0; i < fault->count; i++) {
        struct driver_rule *item = &fault->items[i];
        const struct fault_rule *rule = &item->rule;
        if (rule->kind != kind || ++item->met < rule->from_call ||
            (rule->probability < 1 && random_between(&item->random, 0, 1) >= rule->probability)) {
            continue;
        }
        item->triggered++;
        is_met = 1;
    }
    return is_met;
}

static struct driver_fault *of(struct backend *backend)
{
    return (struct driver_fault *)backend;
}

static struct backend *inner(struct backend *backend)
{
    return of(backend)->wrapper.inner;
}

// -- A write that lands late -------------------------------------------------------------------

static tapml_status land(struct backend *backend)
{
    struct late_write *late = &of(backend)->late;
    const struct late_write write = *late;
    *late = (struct late_write){NULL, 0, 0, NULL};
    return write.buffer
               ? backend_write(inner(backend), write.buffer, write.offset, write.source, write.size)
               : TAPML_OK;
}

// -- Transfers ---------------------------------------------------------------------------------

// As long as a rule says, and all of them together.
static tapml_status wait_before(struct driver_fault *fault)
{
    if (!meets(fault, FAULT_WRITE_DELAY)) {
        return TAPML_OK;
    }
    for (size_t i = 0; i < fault->count; i++) {
        const struct fault_rule *rule = &fault->items[i].rule;
        if (rule->kind == FAULT_WRITE_DELAY && fault->items[i].met >= rule->from_call) {
            TAPML_TRY(fault_process_strike(rule));
        }
    }
    return TAPML_OK;
}

static uint64_t whole_vectors(uint64_t size)
{
    return size / VECTOR_BYTES * VECTOR_BYTES;
}

static tapml_status driver_write(struct backend *backend,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    struct driver_fault *fault = of(backend);
    TAPML_TRY(wait_before(fault));
    if (meets(fault, FAULT_WRITE_TAIL)) {
        size = whole_vectors(size);
    }
    if (meets(fault, FAULT_WRITE_LATE) && !fault->late.buffer && size > 0) {
        fault->late = (struct late_write){buffer, offset, size, source};
        return TAPML_OK;
    }
    if (size > 0) {
        TAPML_TRY(backend_write(inner(backend), buffer, offset, source, size));
    }
    return land(backend);
}

static tapml_status driver_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    if (meets(of(backend), FAULT_READ_TAIL)) {
        size = whole_vectors(size);
    }
    if (size > 0) {
        TAPML_TRY(backend_read(inner(backend), buffer, offset, target, size));
    }
    return land(backend);
}

static tapml_status driver_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    if (meets(of(backend), FAULT_FILL_START)) {
        offset = 0;
    }
    if (meets(of(backend), FAULT_FILL_TAIL)) {
        const uint64_t tail = size / 4 / TAPML_TRANSFER_GRAIN * TAPML_TRANSFER_GRAIN;
        size -= tail > 0 ? tail : size > 0 ? TAPML_TRANSFER_GRAIN : 0;
    }
    if (size > 0) {
        TAPML_TRY(backend_fill(inner(backend), buffer, offset, size, pattern));
    }
    return land(backend);
}

static tapml_status driver_copy(struct backend *backend, const struct backend_copy *copy)
{
    TAPML_TRY(backend_copy(inner(backend), copy));
    return land(backend);
}

// -- Launches ----------------------------------------------------------------------------------

// Whether a number may stand in a call that is given other ones: a whole number chooses rows, and
// must not lead a kernel out of its own.
static int is_allowed(const struct inferred *given, uint32_t param, int64_t value)
{
    const struct expression *domain = given->schema->params[param].domain;
    int64_t least = 0;
    int64_t largest = 0;
    return domain && expression_range(&given->scope, domain, &least, &largest) == TAPML_OK &&
           value >= least && value <= largest;
}

// Gives a call the numbers of the launch before it, if that was of the same op.
static void
make_stale(const struct driver_fault *fault, const struct backend_call *call, tapml_value *args)
{
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const tapml_value *last = &fault->last[i];
        if (args[i].kind == TAPML_P_F64 && last->kind == TAPML_P_F64) {
            args[i].u.d = last->u.d;
        } else if (args[i].kind == TAPML_P_I64 && last->kind == TAPML_P_I64 &&
                   is_allowed(call->inferred, i, last->u.i)) {
            args[i].u.i = last->u.i;
        }
    }
}

static tapml_status launch(struct backend *backend, const struct backend_call *call)
{
    struct driver_fault *fault = of(backend);
    struct backend_call stale = *call;
    struct inferred inferred;
    tapml_value args[COMPILED_PARAMS_MAX];
    const size_t bytes = call->op->n_params * sizeof(*args);
    const int is_stale = fault->last_op == call->op && meets(fault, FAULT_STALE_ARGUMENTS);
    memcpy(args, call->args, bytes);
    if (is_stale) {
        make_stale(fault, call, args);
    }
    fault->last_op = call->op;
    memcpy(fault->last, call->args, bytes);
    if (!is_stale || infer_call(call->inferred->schema, args, &inferred) != TAPML_OK) {
        return backend_call(inner(backend), call);
    }
    stale.args = args;
    stale.inferred = &inferred;
    return backend_call(inner(backend), &stale);
}

static tapml_status driver_call(struct backend *backend, const struct backend_call *call)
{
    TAPML_TRY(launch(backend, call));
    return land(backend);
}

// -- The rest of the table: nothing is held back behind it ---------------------------------------

static tapml_status driver_flush(struct backend *backend)
{
    TAPML_TRY(land(backend));
    return backend_flush(inner(backend));
}

// What was queued is waited for in any case.
static tapml_status driver_wait(struct backend *backend)
{
    const tapml_status landed = land(backend);
    const tapml_status status = backend_wait(inner(backend));
    return landed != TAPML_OK ? landed : status;
}

static tapml_status driver_signal(struct backend *backend, struct backend_point *out_point)
{
    TAPML_TRY(land(backend));
    return backend_signal(inner(backend), out_point);
}

static void driver_buffer_free(struct backend *backend, tapml_object *buffer)
{
    if (of(backend)->late.buffer == buffer) {
        of(backend)->late = (struct late_write){NULL, 0, 0, NULL};
    }
    backend_buffer_free(inner(backend), buffer);
}

static tapml_status driver_map(struct backend *backend,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               const void **out_memory)
{
    TAPML_TRY(driver_wait(backend)); // No work is pending: only what is held back here.
    return backend_map(inner(backend), buffer, offset, size, out_memory);
}

static void driver_release(struct backend *backend)
{
    driver_fault_destroy(of(backend));
}

// -- The injector ------------------------------------------------------------------------------

tapml_status driver_fault_create(struct backend *inner_backend,
                                 const struct fault_rule *rules,
                                 size_t count,
                                 struct driver_fault **out_fault)
{
    struct driver_fault *fault = alloc_new(sizeof(*fault));
    if (!fault) {
        return status_no_memory();
    }
    fault->items = alloc_array(count + 1, sizeof(*fault->items));
    if (!fault->items) {
        alloc_free(fault);
        return status_no_memory();
    }
    fault->count = count;
    for (size_t i = 0; i < count; i++) { // Those of ops are of no kind that is met here.
        fault->items[i].rule = rules[i];
        random_init(&fault->items[i].random, rules[i].seed);
    }
    fault->vt = backend_forward_vt;
    fault->vt.release = driver_release;
    fault->vt.buffer_free = driver_buffer_free;
    fault->vt.write = driver_write;
    fault->vt.read = driver_read;
    fault->vt.fill = driver_fill;
    fault->vt.copy = driver_copy;
    fault->vt.map = driver_map;
    fault->vt.call = driver_call;
    fault->vt.flush = driver_flush;
    fault->vt.wait = driver_wait;
    fault->vt.signal = driver_signal;
    fault->wrapper =
        (struct backend_wrapper){.backend = {.vt = &fault->vt}, .inner = inner_backend};
    *out_fault = fault;
    return TAPML_OK;
}

void driver_fault_destroy(struct driver_fault *fault)
{
    if (fault) {
        alloc_free(fault->items);
        alloc_free(fault);
    }
}

struct backend *driver_fault_backend(struct driver_fault *fault)
{
    return &fault->wrapper.backend;
}

uint64_t driver_fault_triggered(const struct driver_fault *fault, size_t index)
{
    return fault->items[index].triggered;
}
