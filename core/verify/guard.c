// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guard.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "tensor/shape.h"
#include "verify/guard_bystanders.h"
#include "verify/guard_weight.h"
#include "verify/guarded_call.h"

#include <stdio.h>
#include <string.h>

enum { KEPT_BYTES_MAX = 1 << 20 }; // Of each room, from call to call.

// A call with what is needed from when it is queued until it is looked at.
struct guard_flight {
    struct guarded_call guarded;
    struct guard_violation violation;
    struct backend_call call;  // Of a call that was queued ahead.
    uint64_t begin_ns, end_ns; // Of its second run, by stamps; 0: it has none.
};

struct guard {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct guard *`.
    struct backend_vt vt;
    struct backend_info info;
    int is_ignoring;
    int is_measuring;
    uint64_t time_ns;
    uint32_t buffers_made;
    struct guard_flight own; // Of calls that are looked at before the next one.
    struct guard_flight *at; // The call at hand: `own`, or one that was queued ahead.
    struct room dense_room;
    struct guard_bystanders bystanders;
};

static tapml_status make_buffer(struct backend *backend, uint64_t size, tapml_object **out)
{
    struct guard *guard = (struct guard *)backend;
    struct guard_buffer *buffer = NULL;
    TAPML_TRY(guard_buffer_create(guard->wrapper.inner, size, guard->buffers_made++, &buffer));
    guard_bystanders_add(&guard->bystanders, buffer);
    *out = &buffer->object;
    return TAPML_OK;
}

static tapml_status wrap_buffer(
    struct backend *backend, void *memory, uint64_t size, uint32_t access, tapml_object **out)
{
    struct guard *guard = (struct guard *)backend;
    struct guard_buffer *buffer = NULL;
    TAPML_TRY(guard_buffer_wrap(guard->wrapper.inner, memory, size, access, &buffer));
    guard_bystanders_add(&guard->bystanders, buffer);
    *out = &buffer->object;
    return TAPML_OK;
}

static void free_buffer(struct backend *backend, tapml_object *object)
{
    struct guard *guard = (struct guard *)backend;
    guard_bystanders_remove(&guard->bystanders, guard_buffer_own(object));
    guard_buffer_destroy(guard->wrapper.inner, guard_buffer_own(object));
}

static tapml_status guard_write(struct backend *backend,
                                tapml_object *object,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    struct guard_buffer *buffer = guard_buffer_own(object);
    buffer->is_hashed = 0;
    guard_bystanders_forget(buffer);
    return backend_write(((struct guard *)backend)->wrapper.inner, buffer->inner,
                         buffer->redzone + offset, source, size);
}

static tapml_status guard_read(
    struct backend *backend, tapml_object *object, uint64_t offset, void *target, uint64_t size)
{
    const struct guard_buffer *buffer = guard_buffer_own(object);
    return backend_read(((struct guard *)backend)->wrapper.inner, buffer->inner,
                        buffer->redzone + offset, target, size);
}

static tapml_status guard_fill(
    struct backend *backend, tapml_object *object, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct guard_buffer *buffer = guard_buffer_own(object);
    buffer->is_hashed = 0;
    guard_bystanders_forget(buffer);
    return backend_fill(((struct guard *)backend)->wrapper.inner, buffer->inner,
                        buffer->redzone + offset, size, pattern);
}

static tapml_status guard_copy(struct backend *backend, const struct backend_copy *copy)
{
    const struct guard_buffer *source = guard_buffer_own(copy->source);
    struct guard_buffer *target = guard_buffer_own(copy->target);
    target->is_hashed = 0;
    return backend_copy(
        ((struct guard *)backend)->wrapper.inner,
        &(struct backend_copy){.source = source->inner,
                               .target = target->inner,
                               .source_offset = source->redzone + copy->source_offset,
                               .target_offset = target->redzone + copy->target_offset,
                               .size = copy->size});
}

static tapml_status guard_map(struct backend *backend,
                              tapml_object *object,
                              uint64_t offset,
                              uint64_t size,
                              const void **out_memory)
{
    const struct guard_buffer *buffer = guard_buffer_own(object);
    return backend_map(((struct guard *)backend)->wrapper.inner, buffer->inner,
                       buffer->redzone + offset, size, out_memory);
}

static void guard_unmap(struct backend *backend, tapml_object *object)
{
    backend_unmap(((struct guard *)backend)->wrapper.inner, guard_buffer_own(object)->inner);
}

// -- Before the call ---------------------------------------------------------------------------

static tapml_status read_image(struct guard *guard, const struct guarded_watch *watch, void *image)
{
    return backend_read(guard->wrapper.inner, watch->buffer->inner, 0, image,
                        guard_buffer_readable_bytes(watch->buffer));
}

static tapml_status
dense_need(struct guard *guard, const struct guarded_view *view, void **out_dense)
{
    return room_need(&guard->dense_room, view->count * view->element_bytes, out_dense);
}

// Whether an output is whole grains without gaps, so that nothing else is written with it.
static int is_whole(const struct guarded_view *view)
{
    return shape_is_dense(view->shape, view->stride, view->rank) &&
           view->offset % TAPML_TRANSFER_GRAIN == 0 &&
           view->count * view->element_bytes % TAPML_TRANSFER_GRAIN == 0;
}

// From the image of its buffer after the call, which comes to be behind this in the queue.
static tapml_status poison_whole(const struct guard *guard,
                                 const struct guarded_watch *watch,
                                 const struct guarded_view *view)
{
    const uint64_t bytes = view->count * view->element_bytes;
    guard_buffer_fill(watch->after + view->offset, bytes, GUARD_BUFFER_UNWRITTEN);
    return backend_write(guard->wrapper.inner, watch->buffer->inner, view->offset,
                         watch->after + view->offset, bytes);
}

// What is between goes along, and is waited for.
static tapml_status poison_gappy(struct guard *guard,
                                 const struct guarded_watch *watch,
                                 const struct guarded_view *view)
{
    struct backend *inner = guard->wrapper.inner;
    void *dense = NULL;
    TAPML_TRY(backend_wait(inner));
    TAPML_TRY(dense_need(guard, view, &dense));
    guard_buffer_fill(dense, view->count * view->element_bytes, GUARD_BUFFER_UNWRITTEN);
    guarded_call_scatter(view, dense, watch->before);
    return backend_write(inner, watch->buffer->inner, 0, watch->before,
                         guard_buffer_readable_bytes(watch->buffer));
}

// Poisons the outputs that are whole, or the others. In-out ones are read.
static tapml_status poison_outputs(struct guard *guard, int are_whole)
{
    for (uint32_t i = 0; i < guard->at->guarded.use_count; i++) {
        const struct guarded_use *use = &guard->at->guarded.uses[i];
        const struct guarded_watch *watch =
            guarded_call_find_watch(&guard->at->guarded, use->buffer);
        struct guarded_view view;
        if (!guarded_call_is_output(guarded_call_param(&guard->at->guarded, use))) {
            continue;
        }
        TAPML_TRY(guarded_call_view(&guard->at->guarded, use, &view));
        if (guarded_call_param(&guard->at->guarded, use)->kind == TAPML_P_TENSOR_OUT &&
            view.count > 0 && is_whole(&view) == are_whole) {
            TAPML_TRY(are_whole ? poison_whole(guard, watch, &view)
                                : poison_gappy(guard, watch, &view));
        }
    }
    return TAPML_OK;
}

static tapml_status begin(struct guard *guard)
{
    TAPML_TRY(guarded_call_list_watches(&guard->at->guarded));
    for (uint32_t i = 0; i < guard->at->guarded.watch_count; i++) {
        struct guarded_watch *watch = &guard->at->guarded.watches[i];
        watch->given = watch->buffer->given;
        watch->buffer->given = NULL; // The next call may use the buffer before this is looked at.
        TAPML_TRY(watch->is_weight
                      ? guard_weight_begin(guard->wrapper.inner, &guard->dense_room, watch)
                      : read_image(guard, watch, watch->before));
    }
    // Those with gaps write their whole buffers as they were.
    TAPML_TRY(poison_outputs(guard, 0));
    return poison_outputs(guard, 1);
}

// -- After the call ----------------------------------------------------------------------------

// The first element of a dense view that is `word`, or the count. Of halves whole words are looked
// for, since a number alone may have the bits of one half.
static uint64_t
find_word(const struct guarded_view *view, const unsigned char *dense, uint32_t word)
{
    const uint64_t step =
        view->element_bytes > sizeof(uint32_t) ? view->element_bytes : sizeof(uint32_t);
    unsigned char expected[sizeof(uint64_t)];
    guard_buffer_fill(expected, sizeof(expected), word);
    for (uint64_t at = 0; at + step <= view->count * view->element_bytes; at += step) {
        if (memcmp(dense + at, expected, step) == 0) {
            return at / view->element_bytes;
        }
    }
    return view->count;
}

// Whether some input has poison among its values: what an op before this one, or nobody, has left.
// Outputs may be in the images already.
static tapml_status find_incoming(struct guard *guard, int *out_has)
{
    *out_has = 0;
    for (uint32_t i = 0; i < guard->at->guarded.use_count && !*out_has; i++) {
        const struct guarded_use *use = &guard->at->guarded.uses[i];
        const struct guarded_watch *watch =
            guarded_call_find_watch(&guard->at->guarded, use->buffer);
        struct guarded_view view;
        void *dense = NULL;
        if (watch->is_weight ||
            guarded_call_param(&guard->at->guarded, use)->kind == TAPML_P_TENSOR_OUT) {
            continue;
        }
        TAPML_TRY(guarded_call_view(&guard->at->guarded, use, &view));
        TAPML_TRY(dense_need(guard, &view, &dense));
        guarded_call_gather(&view, watch->before, dense);
        *out_has = find_word(&view, dense, GUARD_BUFFER_POISON) < view.count;
    }
    return TAPML_OK;
}

// Looks for what was not written, and for poison that was read where there is no input.
static tapml_status find_poison(struct guard *guard,
                                const struct guarded_use *use,
                                const struct guarded_view *view,
                                const unsigned char *dense)
{
    const uint64_t unwritten = find_word(view, dense, GUARD_BUFFER_UNWRITTEN);
    const uint64_t poison = find_word(view, dense, GUARD_BUFFER_POISON);
    int has_come_in = 0;
    if (unwritten < view->count) {
        guard_violation_unwritten(&guard->at->violation, &guard->at->guarded, use, unwritten);
        return TAPML_OK;
    }
    if (poison < view->count) {
        TAPML_TRY(find_incoming(guard, &has_come_in));
    }
    if (poison < view->count && !has_come_in) {
        guard_violation_poisoned(&guard->at->violation, &guard->at->guarded, use, poison);
    }
    return TAPML_OK;
}

// Checks what was written of an output, and takes it out of the comparison.
static tapml_status check_output(struct guard *guard, const struct guarded_use *use)
{
    const struct guarded_watch *watch = guarded_call_find_watch(&guard->at->guarded, use->buffer);
    struct guarded_view view;
    void *dense = NULL;
    TAPML_TRY(guarded_call_view(&guard->at->guarded, use, &view));
    if (view.count == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(dense_need(guard, &view, &dense));
    guarded_call_gather(&view, watch->after, dense);
    if (guarded_call_param(&guard->at->guarded, use)->kind == TAPML_P_TENSOR_OUT &&
        guard->at->violation.kind == GUARD_CLEAN) {
        TAPML_TRY(find_poison(guard, use, &view, dense));
        TAPML_TRY(dense_need(guard, &view, &dense)); // It may have had an input meanwhile.
        guarded_call_gather(&view, watch->after, dense);
    }
    guarded_call_scatter(&view, dense, watch->before);
    return TAPML_OK;
}

static tapml_status check_watch(struct guard *guard, const struct guarded_watch *watch)
{
    const uint64_t size = guard_buffer_readable_bytes(watch->buffer);
    if (watch->is_weight) {
        return guard_weight_check(guard->wrapper.inner, &guard->at->guarded, watch,
                                  &guard->at->violation);
    }
    const uint64_t at = guard_buffer_difference(watch->before, watch->after, size);
    if (at < size) {
        guard_violation_outside(&guard->at->violation, &guard->at->guarded, watch->use, at);
    }
    return TAPML_OK;
}

// Makes the redzones whole, so that the same fault is seen again.
static tapml_status restore_redzones(const struct guard *guard)
{
    struct backend *inner = guard->wrapper.inner;
    for (uint32_t i = 0; i < guard->at->guarded.watch_count; i++) {
        const struct guard_buffer *buffer = guard->at->guarded.watches[i].buffer;
        if (buffer->redzone > 0) {
            TAPML_TRY(guard_buffer_write_redzones(inner, buffer));
        }
    }
    return backend_wait(inner);
}

static tapml_status report(struct guard *guard)
{
    const struct backend_call *call = guard->at->guarded.call;
    if (guard->at->violation.kind == GUARD_CLEAN) {
        return TAPML_OK;
    }
    guard_bystanders_forget_all(&guard->bystanders);
    TAPML_TRY(restore_redzones(guard));
    return status_fail(TAPML_INTERNAL, "%s at '%.100s': %s", call->op->name,
                       call->instance ? call->instance : "", guard->at->violation.what);
}

// Before outputs come into the images.
static void compare_given(const struct guard *guard)
{
    for (uint32_t i = 0; i < guard->at->guarded.watch_count; i++) {
        const struct guarded_watch *watch = &guard->at->guarded.watches[i];
        struct guard_buffer *buffer = watch->buffer;
        buffer->was_other =
            watch->given && watch->before &&
            memcmp(watch->before + buffer->redzone, watch->given, buffer->size) != 0;
    }
}

static tapml_status read_after(struct guard *guard)
{
    for (uint32_t i = 0; i < guard->at->guarded.watch_count; i++) {
        struct guarded_watch *watch = &guard->at->guarded.watches[i];
        TAPML_TRY(watch->after ? read_image(guard, watch, watch->after) : TAPML_OK);
        if (watch->is_weight) {
            TAPML_TRY(guard_weight_read(guard->wrapper.inner, &guard->dense_room, watch));
        }
    }
    return TAPML_OK;
}

// Looks at what was read, which is there. Of several faults a write outside counts more than what
// is unwritten.
static tapml_status look(struct guard *guard)
{
    compare_given(guard);
    for (uint32_t i = 0; i < guard->at->guarded.use_count; i++) {
        if (guarded_call_is_output(
                guarded_call_param(&guard->at->guarded, &guard->at->guarded.uses[i]))) {
            TAPML_TRY(check_output(guard, &guard->at->guarded.uses[i]));
        }
    }
    for (uint32_t i = 0; i < guard->at->guarded.watch_count; i++) {
        if (guard->at->violation.kind != GUARD_OUTSIDE) {
            TAPML_TRY(check_watch(guard, &guard->at->guarded.watches[i]));
        }
    }
    if (guard->at->violation.kind == GUARD_CLEAN && guard->at == &guard->own) {
        guard_bystanders_check(&guard->bystanders, guard->wrapper.inner, &guard->at->guarded,
                               &guard->at->violation);
    }
    return report(guard);
}

static tapml_status check(struct guard *guard)
{
    struct backend *inner = guard->wrapper.inner;
    TAPML_TRY(read_after(guard));
    TAPML_TRY(guard_bystanders_read(&guard->bystanders, inner, &guard->at->guarded));
    TAPML_TRY(backend_wait(inner));
    return look(guard);
}

static tapml_status perform(struct guard *guard, const struct backend_call *call)
{
    struct backend *inner = guard->wrapper.inner;
    TAPML_TRY(backend_wait(inner)); // Not part of the time.
    const uint64_t begin_ns = clock_now_ns();
    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_wait(inner));
    guard->time_ns = clock_now_ns() - begin_ns;
    return TAPML_OK;
}

// What is queued around a call that failed writes images, and reads them.
static tapml_status settle(struct guard *guard, tapml_status failure)
{
    char message[512];
    (void)snprintf(message, sizeof(message), "%s", status_message());
    (void)backend_wait(guard->wrapper.inner);
    guard_bystanders_forget_all(&guard->bystanders);
    return status_fail(failure, "%s", message);
}

static tapml_status guard_call(struct backend *backend, const struct backend_call *call)
{
    struct guard *guard = (struct guard *)backend;
    struct backend_call inner_call = *call;
    guard->at = &guard->own;
    guard->at->violation = (struct guard_violation){0};
    guard->time_ns = 0;
    TAPML_TRY(guarded_call_begin(&guard->at->guarded, call, &inner_call.args));
    if (guard->is_ignoring) {
        guard_bystanders_forget_all(&guard->bystanders);
        return perform(guard, &inner_call);
    }
    tapml_status status = begin(guard);
    if (status == TAPML_OK) {
        status = guard->is_measuring ? perform(guard, &inner_call)
                                     : backend_call(guard->wrapper.inner, &inner_call);
    }
    return status == TAPML_OK ? check(guard) : settle(guard, status);
}

// -- Calls that are queued ahead -----------------------------------------------------------------

tapml_status guard_flight_create(struct guard_flight **out_flight)
{
    *out_flight = alloc_new(sizeof(**out_flight));
    return *out_flight ? TAPML_OK : status_no_memory();
}

void guard_flight_destroy(struct guard_flight *flight)
{
    if (flight) {
        guarded_call_release(&flight->guarded);
        alloc_free(flight);
    }
}

// The second run, for its time.
static tapml_status
queue_timed(struct backend *inner, const struct backend_call *call, struct guard_flight *flight)
{
    TAPML_TRY(backend_stamp(inner, &flight->begin_ns));
    TAPML_TRY(backend_call(inner, call));
    return backend_stamp(inner, &flight->end_ns);
}

static tapml_status queue(struct guard *guard, int timed)
{
    struct guard_flight *flight = guard->at;
    struct backend *inner = guard->wrapper.inner;
    struct backend_call inner_call = flight->call;
    TAPML_TRY(guarded_call_begin(&flight->guarded, &flight->call, &inner_call.args));
    TAPML_TRY(begin(guard));
    TAPML_TRY(backend_call(inner, &inner_call));
    TAPML_TRY(read_after(guard));
    return timed ? queue_timed(inner, &inner_call, flight) : TAPML_OK;
}

tapml_status guard_queue(struct guard *guard,
                         const struct backend_call *call,
                         int timed,
                         struct guard_flight *flight)
{
    guard->at = flight;
    flight->violation = (struct guard_violation){0};
    flight->begin_ns = flight->end_ns = 0;
    flight->call = *call;
    const tapml_status status = queue(guard, timed);
    guard->at = &guard->own;
    guard_bystanders_forget_all(&guard->bystanders);
    return status;
}

tapml_status guard_land(struct guard *guard, struct guard_flight *flight)
{
    guard->at = flight;
    guard->time_ns = flight->end_ns - flight->begin_ns;
    return look(guard);
}

// -- The guard ---------------------------------------------------------------------------------

static const struct backend_info *guard_info(const struct backend *backend)
{
    return &((const struct guard *)backend)->info;
}

static void guard_release(struct backend *backend)
{
    guard_destroy((struct guard *)backend);
}

tapml_status guard_create(struct backend *inner, struct guard **out_guard)
{
    enum { REDZONES = 2 * GUARD_BUFFER_REDZONE_BYTES };
    struct guard *guard = alloc_new(sizeof(*guard));
    if (!guard) {
        return status_no_memory();
    }
    guard->info = *backend_info(inner);
    // Weights get buffers with redzones: memory of the host that a worker wraps has none, and a
    // write to it ends the worker, where a guard would report the write.
    if (guard->info.borrowing == BACKEND_BORROWS_BUFFERS) {
        guard->info.borrowing = BACKEND_BORROWS_SOURCES;
    } else if (guard->info.borrowing == BACKEND_BORROWS_WHOLE) {
        guard->info.borrowing = BACKEND_BORROWS_NOTHING;
    }
    if (guard->info.buffer_bytes_max > 0) {
        const uint64_t most = guard->info.buffer_bytes_max;
        guard->info.buffer_bytes_max = most > REDZONES ? most - REDZONES : 1;
    }
    guard->vt = backend_forward_vt;
    guard->vt.release = guard_release;
    guard->vt.info = guard_info;
    guard->vt.buffer_new = make_buffer;
    guard->vt.buffer_wrap = wrap_buffer;
    guard->vt.buffer_free = free_buffer;
    guard->vt.write = guard_write;
    guard->vt.read = guard_read;
    guard->vt.fill = guard_fill;
    guard->vt.copy = guard_copy;
    guard->vt.map = guard_map;
    guard->vt.unmap = guard_unmap;
    guard->vt.call = guard_call;
    guard->vt.aside = NULL; // Its buffers are its own.
    guard->wrapper = (struct backend_wrapper){.backend = {.vt = &guard->vt}, .inner = inner};
    guard->is_measuring = 1;
    guard->at = &guard->own;
    *out_guard = guard;
    return TAPML_OK;
}

void guard_destroy(struct guard *guard)
{
    if (guard) {
        guarded_call_release(&guard->own.guarded);
        room_release(&guard->dense_room);
        guard_bystanders_release(&guard->bystanders);
        backend_forget(&guard->wrapper.backend);
        alloc_free(guard);
    }
}

struct backend *guard_backend(struct guard *guard)
{
    return &guard->wrapper.backend;
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct guard **made = user;
    (void)settings;
    TAPML_TRY(guard_create(inner, made));
    *out_backend = guard_backend(*made);
    return TAPML_OK;
}

struct place_link guard_link(struct guard **out_guard)
{
    return (struct place_link){.kind = PLACE_GUARD, .create = make_link, .user = out_guard};
}

void guard_watch(struct guard *guard, int is_watching)
{
    guard->is_ignoring = !is_watching;
}

void guard_measure(struct guard *guard, int is_measuring)
{
    guard->is_measuring = is_measuring;
}

void guard_learn(struct guard *guard, int is_learning)
{
    guard->bystanders.is_forgetful = !is_learning;
}

const void *guard_found(const struct guard *guard, const tapml_object *buffer)
{
    const struct guarded_watch *watch =
        guarded_call_find_watch(&guard->at->guarded, (const struct guard_buffer *)buffer);
    return watch && !watch->is_weight ? watch->after + watch->buffer->redzone : NULL;
}

void guard_trim(struct guard *guard)
{
    if (guard->at->guarded.image_room.size > KEPT_BYTES_MAX) {
        room_release(&guard->at->guarded.image_room);
        guard->at->guarded.watch_count = 0; // They lie in it.
    }
    if (guard->dense_room.size > KEPT_BYTES_MAX) {
        room_release(&guard->dense_room);
    }
    guard->at = &guard->own; // A flight may be gone before the next call.
}

const struct guard_violation *guard_violation(const struct guard *guard)
{
    return &guard->at->violation;
}

uint64_t guard_time_ns(const struct guard *guard)
{
    return guard->time_ns;
}
