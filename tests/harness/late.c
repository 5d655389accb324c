// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/late.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/random.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BUFFER_POISON = 0xa5, CLOCK_DEVICES_MAX = 8, SECOND_NS = 1000000000 };

struct late_clock {
    int is_real;
    uint64_t now_ns; // Where it is not.
    struct late *devices[CLOCK_DEVICES_MAX];
    size_t count;
};

struct late_buffer {
    tapml_object object;
    unsigned char *memory;
    uint64_t size;
    tapml_object *inner; // Wraps `memory`; or NULL.
};

enum late_kind { LATE_WRITE, LATE_READ, LATE_FILL, LATE_CALL, LATE_SIGNAL, LATE_FOLLOW };

struct late_work {
    enum late_kind kind;
    struct late_buffer *buffer;
    uint64_t offset;
    uint64_t size;
    const void *source;
    void *target;
    uint32_t pattern;
    struct backend_call call; // All that it points to is in the batch's arena.
    uint64_t end_ns;          // When it is done, by the clock.
};

struct late_notice {
    uint64_t point;
    tapml_notified function;
    void *user;
};

struct late {
    struct backend backend;
    struct late_options options;
    struct backend_info info;
    struct late_counts counts;
    struct arena *arena; // Of the work that waits.
    struct late_work *work;
    size_t done, count; // Of it.
    size_t capacity;
    uint64_t signalled, reached;
    struct late_notice *notices; // Of points that are not reached, in their order.
    size_t notice_count, notice_capacity;

    // Of devices with a clock.
    struct random random;
    uint64_t free_ns;  // When all work is done.
    uint64_t *ends_ns; // When the points are reached, from the first one on.
    size_t end_capacity;
    tapml_status failure;       // That no wait has returned yet,
    char message[512];          // and what was said.
    const char *const *failing; // Instances.
    size_t failing_count;
    int fails_at_once;
};

static struct late *own(const struct backend *backend)
{
    return (struct late *)(uintptr_t)backend;
}

uint64_t late_clock_ns(const struct late_clock *clock)
{
    return clock->is_real ? clock_now_ns() : clock->now_ns;
}

// When a piece of work is done that is given now. Nothing overtakes what was queued before it.
static uint64_t end_of(struct late *late, enum late_kind kind)
{
    const struct late_options *options = &late->options;
    if (!options->clock) {
        return 0;
    }
    const uint64_t chance_ns =
        options->jitter_ns > 0 ? random_below(&late->random, options->jitter_ns) : 0;
    const uint64_t comes_ns = late_clock_ns(options->clock) + options->latency_ns + chance_ns;
    const uint64_t begin_ns = comes_ns > late->free_ns ? comes_ns : late->free_ns;
    late->free_ns = begin_ns + (kind == LATE_CALL ? options->busy_ns : 0);
    return late->free_ns;
}

static struct late_work *add_work(struct late *late, enum late_kind kind)
{
    if (!late->arena) {
        late->arena = arena_create();
    }
    const int has_room =
        alloc_grow((void **)&late->work, &late->capacity, late->count, sizeof(*late->work));
    ASSERT(late->arena && has_room);
    late->work[late->count] = (struct late_work){.kind = kind, .end_ns = end_of(late, kind)};
    return &late->work[late->count++];
}

static struct late_buffer *check_range(tapml_object *object, uint64_t offset, uint64_t size)
{
    struct late_buffer *buffer = (struct late_buffer *)object;
    ASSERT(size > 0 && offset % TAPML_TRANSFER_GRAIN == 0 && size % TAPML_TRANSFER_GRAIN == 0);
    ASSERT(offset <= buffer->size && size <= buffer->size - offset);
    return buffer;
}

static tapml_status late_buffer_new(struct backend *backend, uint64_t size, tapml_object **out)
{
    struct late *late = own(backend);
    ASSERT(size > 0 && size % TAPML_TRANSFER_GRAIN == 0);
    ASSERT(late->options.buffer_bytes_max == 0 || size <= late->options.buffer_bytes_max);
    struct late_buffer *buffer = alloc_new(sizeof(*buffer));
    ASSERT(buffer);
    buffer->size = size;
    buffer->memory = alloc_aligned(size, 64);
    ASSERT(buffer->memory);
    memset(buffer->memory, BUFFER_POISON, size);
    if (late->options.inner) {
        TAPML_TRY(backend_buffer_wrap(late->options.inner, buffer->memory, size,
                                      TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, &buffer->inner));
    }
    late->counts.buffers_alive++;
    late->counts.bytes_alive += size;
    if (late->counts.bytes_alive > late->counts.bytes_most) {
        late->counts.bytes_most = late->counts.bytes_alive;
    }
    *out = &buffer->object;
    return TAPML_OK;
}

static tapml_status late_buffer_wrap(struct backend *backend,
                                     void *memory,
                                     uint64_t size,
                                     uint32_t access,
                                     tapml_object **out_buffer)
{
    return status_fail(TAPML_UNIMPLEMENTED, "its memory is its own");
}

static void late_buffer_free(struct backend *backend, tapml_object *object)
{
    struct late *late = own(backend);
    struct late_buffer *buffer = (struct late_buffer *)object;
    if (late->options.inner) {
        backend_buffer_free(late->options.inner, buffer->inner);
    }
    late->counts.buffers_alive--;
    late->counts.bytes_alive -= buffer->size;
    alloc_free(buffer->memory);
    alloc_free(buffer);
}

static tapml_status late_write(struct backend *backend,
                               tapml_object *buffer,
                               uint64_t offset,
                               const void *source,
                               uint64_t size)
{
    struct late *late = own(backend);
    struct late_work *work = add_work(late, LATE_WRITE);
    work->buffer = check_range(buffer, offset, size);
    work->offset = offset;
    work->source = source;
    work->size = size;
    late->counts.writes++;
    late->counts.written_bytes += size;
    return TAPML_OK;
}

static tapml_status late_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    struct late *late = own(backend);
    struct late_work *work = add_work(late, LATE_READ);
    work->buffer = check_range(buffer, offset, size);
    work->offset = offset;
    work->target = target;
    work->size = size;
    late->counts.reads++;
    late->counts.read_bytes += size;
    return TAPML_OK;
}

static tapml_status late_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct late *late = own(backend);
    struct late_work *work = add_work(late, LATE_FILL);
    work->buffer = check_range(buffer, offset, size);
    work->offset = offset;
    work->size = size;
    work->pattern = pattern;
    late->counts.fills++;
    return TAPML_OK;
}

// A write from the memory of another buffer, as it is then.
static tapml_status late_copy(struct backend *backend, const struct backend_copy *copy)
{
    const struct late_buffer *source = check_range(copy->source, copy->source_offset, copy->size);
    return late_write(backend, copy->target, copy->target_offset,
                      source->memory + copy->source_offset, copy->size);
}

// Copies of what a call points to, since it is gone when the call is done. The buffers are those of
// the backend behind.

static void *keep(struct late *late, const void *bytes, size_t size)
{
    void *copy = arena_new(late->arena, size > 0 ? size : 1);
    ASSERT(copy);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

static const tapml_tensor *keep_tensor(struct late *late, const tapml_tensor *tensor)
{
    tapml_tensor *first = NULL, **at = &first;
    for (; tensor; tensor = tensor->next) {
        tapml_tensor *copy = keep(late, tensor, sizeof(*tensor));
        const size_t bytes = tensor->rank * sizeof(*tensor->shape);
        copy->shape = tensor->rank > 0 ? keep(late, tensor->shape, bytes) : NULL;
        copy->stride = tensor->stride ? keep(late, tensor->stride, bytes) : NULL;
        copy->buffer = ((struct late_buffer *)tensor->buffer)->inner;
        copy->next = NULL;
        *at = copy;
        // The chain is constant for those who read it, not while it is made.
        at = (tapml_tensor **)(uintptr_t)&copy->next;
    }
    return first;
}

static tapml_value keep_argument(struct late *late, const tapml_value *value)
{
    tapml_value copy = *value;
    if (value->kind == TAPML_P_TENSORS_IN) {
        const tapml_tensor *const *tensors = value->u.p;
        const tapml_tensor **list = keep(late, tensors, value->count * sizeof(*tensors));
        for (uint32_t i = 0; i < value->count; i++) {
            list[i] = keep_tensor(late, tensors[i]);
        }
        copy.u.p = list;
    } else if (value->kind >= TAPML_P_TENSOR_IN && value->kind <= TAPML_P_TENSOR_INOUT) {
        copy.u.p = keep_tensor(late, value->u.p);
    }
    return copy;
}

static int is_at(const char *instance, const struct backend_call *call)
{
    return instance && strcmp(instance, call->instance) == 0;
}

static int is_failing(const struct late *late, const struct backend_call *call)
{
    for (size_t i = 0; i < late->failing_count; i++) {
        if (is_at(late->failing[i], call)) {
            return 1;
        }
    }
    return is_at(late->options.fails, call);
}

static tapml_status fail_as_told(const struct backend_call *call)
{
    return status_fail(TAPML_INTERNAL, "%s: as it was told", call->instance);
}

static tapml_status late_call(struct backend *backend, const struct backend_call *call)
{
    struct late *late = own(backend);
    if (late->fails_at_once && call->instance && is_failing(late, call)) {
        return fail_as_told(call);
    }
    struct late_work *work = add_work(late, LATE_CALL);
    tapml_value *args = keep(late, call->args, call->op->n_params * sizeof(*args));
    for (uint32_t p = 0; p < call->op->n_params; p++) {
        args[p] = keep_argument(late, &call->args[p]);
    }
    work->call = (struct backend_call){
        .op = call->op,
        .args = args,
        .inferred = keep(late, call->inferred, sizeof(*call->inferred)),
        .instance = arena_text(late->arena, call->instance ? call->instance : ""),
    };
    late->counts.calls++;
    return TAPML_OK;
}

// Fills the last argument of a call, a dense output.
static void level_output(const struct late *late, const struct backend_call *call)
{
    const tapml_tensor *tensor = call->args[call->op->n_params - 1].u.p;
    int64_t count = 1;
    ASSERT(tensor->dtype == TAPML_F32 && !tensor->stride);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        count *= tensor->shape[i];
    }
    for (int64_t i = 0; i < count; i++) {
        const tapml_status status = backend_write(late->options.inner, tensor->buffer,
                                                  tensor->offset + (uint64_t)i * sizeof(float),
                                                  &late->options.level, sizeof(float));
        ASSERT(status == TAPML_OK);
    }
}

// Notifies of what is reached, or of a failure all.
static void notify(struct late *late, tapml_status status)
{
    size_t count = 0;
    while (count < late->notice_count &&
           (status != TAPML_OK || late->notices[count].point <= late->reached)) {
        late->notices[count].function(late->notices[count].user, status);
        count++;
    }
    late->notice_count -= count;
    if (late->notice_count > 0) {
        memmove(late->notices, late->notices + count, late->notice_count * sizeof(*late->notices));
    }
}

static tapml_status perform(struct late *late, const struct late_work *work)
{
    switch (work->kind) {
    case LATE_WRITE:
        memcpy(work->buffer->memory + work->offset, work->source, work->size);
        (void)nanosleep(&(struct timespec){.tv_nsec = (long)late->options.write_ns}, NULL);
        return TAPML_OK;
    case LATE_READ:
        memcpy(work->target, work->buffer->memory + work->offset, work->size);
        return TAPML_OK;
    case LATE_FILL:
        for (uint64_t at = 0; at < work->size; at += sizeof(work->pattern)) {
            memcpy(work->buffer->memory + work->offset + at, &work->pattern, sizeof(work->pattern));
        }
        return TAPML_OK;
    case LATE_SIGNAL:
        late->reached++;
        notify(late, TAPML_OK);
        return TAPML_OK;
    case LATE_FOLLOW: // Its time says when.
        return TAPML_OK;
    case LATE_CALL:
        break;
    }
    if (is_failing(late, &work->call)) {
        return fail_as_told(&work->call);
    }
    TAPML_TRY(backend_call(late->options.inner, &work->call));
    if (is_at(late->options.levels, &work->call)) {
        level_output(late, &work->call);
    }
    return TAPML_OK;
}

static tapml_status late_flush(struct backend *backend)
{
    own(backend)->counts.flushes++;
    return TAPML_OK;
}

// Nothing waits any more.
static void drop_work(struct late *late)
{
    late->done = late->count = 0;
    late->reached = late->signalled;
    late->free_ns = 0;
    arena_destroy(late->arena);
    late->arena = NULL;
}

// Does what waits, up to a point.
static tapml_status perform_to(struct late *late, uint64_t point)
{
    tapml_status status = TAPML_OK;
    late->counts.waits += late->count > late->done;
    while (late->done < late->count && late->reached < point && status == TAPML_OK) {
        status = perform(late, &late->work[late->done++]);
    }
    if (status != TAPML_OK) {
        notify(late, status);
    }
    if (status != TAPML_OK || late->done == late->count) {
        drop_work(late);
    }
    return status;
}

// The device whose next work is done first, and by then; or NULL.
static struct late *next_of(const struct late_clock *clock, uint64_t until_ns)
{
    struct late *next = NULL;
    uint64_t least_ns = until_ns;
    for (size_t i = 0; i < clock->count; i++) {
        struct late *late = clock->devices[i];
        if (late->done < late->count && late->work[late->done].end_ns <= least_ns) {
            least_ns = late->work[late->done].end_ns;
            next = late;
        }
    }
    return next;
}

// Lets time pass, with all that is done in it on every device of the clock.
static void pass(struct late_clock *clock, uint64_t until_ns)
{
    const uint64_t now_ns = late_clock_ns(clock);
    if (until_ns > now_ns && clock->is_real) {
        const uint64_t left_ns = until_ns - now_ns;
        (void)nanosleep(&(struct timespec){.tv_sec = (time_t)(left_ns / SECOND_NS),
                                           .tv_nsec = (long)(left_ns % SECOND_NS)},
                        NULL);
    } else if (until_ns > now_ns) {
        clock->now_ns = until_ns;
    }
    for (struct late *late = NULL; (late = next_of(clock, until_ns)) != NULL;) {
        // A queue that has failed does nothing until it was waited for.
        const int has_failed = late->failure != TAPML_OK;
        const tapml_status status =
            has_failed ? late->failure : perform(late, &late->work[late->done++]);
        if (status != TAPML_OK && !has_failed) {
            late->failure = status;
            (void)snprintf(late->message, sizeof(late->message), "%s", status_message());
            notify(late, status);
        }
        if (status != TAPML_OK || late->done == late->count) {
            drop_work(late);
        }
    }
}

static tapml_status pass_to(struct late *late, uint64_t until_ns)
{
    late->counts.waits += late->count > late->done;
    pass(late->options.clock, until_ns);
    const tapml_status failure = late->failure;
    if (failure == TAPML_OK) {
        return TAPML_OK;
    }
    drop_work(late); // What was queued is gone.
    late->failure = TAPML_OK;
    return status_fail(failure, "%s", late->message);
}

static tapml_status late_wait(struct backend *backend)
{
    struct late *late = own(backend);
    return late->options.clock ? pass_to(late, late->free_ns) : perform_to(late, UINT64_MAX);
}

static tapml_status late_signal(struct backend *backend, struct backend_point *out_point)
{
    struct late *late = own(backend);
    if (late->count > 0 && late->work[late->count - 1].kind != LATE_SIGNAL) {
        const struct late_work *work = add_work(late, LATE_SIGNAL);
        const int has_room = alloc_grow((void **)&late->ends_ns, &late->end_capacity,
                                        late->signalled, sizeof(*late->ends_ns));
        ASSERT(has_room);
        late->ends_ns[late->signalled++] = work->end_ns;
    }
    late->counts.signals++;
    *out_point = (struct backend_point){backend, late->signalled};
    return TAPML_OK;
}

static tapml_status late_wait_for(struct backend *backend, struct backend_point point)
{
    struct late *late = own(backend);
    ASSERT(point.owner == backend && point.value <= late->signalled);
    const int is_reached = point.value <= late->reached;
    if (late->options.clock) {
        return pass_to(late, is_reached ? 0 : late->ends_ns[point.value - 1]);
    }
    return is_reached ? TAPML_OK : perform_to(late, point.value);
}

static void late_release(struct backend *backend);

static tapml_status late_queue_wait(struct backend *backend, struct backend_point point)
{
    struct late *late = own(backend);
    const int is_late = point.owner->vt->release == late_release;
    const struct late *other = is_late ? own(point.owner) : NULL;
    if (!other || !late->options.follows || other->options.clock != late->options.clock) {
        return status_fail(TAPML_UNIMPLEMENTED, "it waits for no other device");
    }
    if (point.value > other->reached) {
        struct late_work *work = add_work(late, LATE_FOLLOW);
        const uint64_t end_ns = other->ends_ns[point.value - 1] + 1;
        work->end_ns = end_ns > work->end_ns ? end_ns : work->end_ns;
        late->free_ns = work->end_ns;
    }
    return TAPML_OK;
}

static tapml_status late_notify(struct backend *backend,
                                struct backend_point point,
                                tapml_notified function,
                                void *user)
{
    struct late *late = own(backend);
    ASSERT(point.owner == backend && point.value <= late->signalled);
    if (late->options.notices == LATE_SILENT) {
        return status_fail(TAPML_UNIMPLEMENTED, "it is silent");
    }
    if (late->options.notices == LATE_FORGETS) {
        return TAPML_OK;
    }
    const int has_room = alloc_grow((void **)&late->notices, &late->notice_capacity,
                                    late->notice_count, sizeof(*late->notices));
    ASSERT(has_room);
    late->notices[late->notice_count++] = (struct late_notice){point.value, function, user};
    notify(late, TAPML_OK);
    return TAPML_OK;
}

static const struct backend_info *late_info(const struct backend *backend)
{
    return &own(backend)->info;
}

static int is_named(const char *name, const tapml_op *op)
{
    return name && strcmp(name, op->name) == 0;
}

static int late_has_op(struct backend *backend, const tapml_op *op)
{
    struct late *late = own(backend);
    return late->options.inner && !is_named(late->options.lacks, op) &&
           backend_has_op(late->options.inner, op);
}

static tapml_status late_supports(struct backend *backend,
                                  const struct compiled_op *schema,
                                  const tapml_value *args,
                                  tapml_support *answer)
{
    struct late *late = own(backend);
    const tapml_op *op = schema->op;
    const tapml_tensor *first = args[0].u.p;
    const int is_long = late->options.rows_max > 0 && first->shape[0] > late->options.rows_max;
    if (is_long || is_named(late->options.refuses, op)) {
        *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_NO};
        (void)snprintf(answer->reason, sizeof(answer->reason), "too late for that");
        return TAPML_OK;
    }
    return backend_supports(late->options.inner, schema, args, answer);
}

static uint64_t late_launches(struct backend *backend)
{
    return own(backend)->counts.calls;
}

static const char *late_identity(struct backend *backend, const tapml_op *op)
{
    return "late";
}

static uint64_t late_generation(const struct backend *backend)
{
    return 0;
}

static void late_release(struct backend *backend)
{
    struct late *late = own(backend);
    arena_destroy(late->arena);
    alloc_free(late->notices);
    alloc_free(late->work);
    alloc_free(late->ends_ns);
    for (size_t i = 0; late->options.clock && i < late->options.clock->count; i++) {
        if (late->options.clock->devices[i] == late) {
            late->options.clock->devices[i] =
                late->options.clock->devices[--late->options.clock->count];
        }
    }
    alloc_free(late);
}

struct backend *late_create(const struct late_options *options)
{
    static const struct backend_vt vt = {
        .release = late_release,
        .info = late_info,
        .has_op = late_has_op,
        .supports = late_supports,
        .buffer_new = late_buffer_new,
        .buffer_wrap = late_buffer_wrap,
        .buffer_free = late_buffer_free,
        .write = late_write,
        .read = late_read,
        .fill = late_fill,
        .copy = late_copy,
        .call = late_call,
        .flush = late_flush,
        .wait = late_wait,
        .signal = late_signal,
        .wait_for = late_wait_for,
        .queue_wait = late_queue_wait,
        .notify = late_notify,
        .launches = late_launches,
        .identity = late_identity,
        .generation = late_generation,
    };
    struct late *late = alloc_new(sizeof(*late));
    ASSERT(late);
    late->backend.vt = &vt;
    late->options = *options;
    random_init(&late->random, options->seed);
    if (options->clock) {
        ASSERT(options->clock->count < CLOCK_DEVICES_MAX);
        options->clock->devices[options->clock->count++] = late;
    }
    late->info = (struct backend_info){
        .component = "late",
        .plugin = "org.example.late",
        .plugin_version = "1",
        .device = "late",
        .device_name = "Late device",
        .driver = "",
        .buffer_bytes_max = options->buffer_bytes_max,
        .takes = options->takes,
    };
    return &late->backend;
}

struct late_counts late_counts(const struct backend *backend)
{
    return own(backend)->counts;
}

const void *late_bytes(const tapml_object *buffer)
{
    return ((const struct late_buffer *)buffer)->memory;
}

struct late_clock *late_clock_create(int is_real)
{
    struct late_clock *clock = alloc_new(sizeof(*clock));
    ASSERT(clock);
    clock->is_real = is_real;
    return clock;
}

void late_clock_destroy(struct late_clock *clock)
{
    ASSERT(!clock || clock->count == 0);
    alloc_free(clock);
}

void late_fail_at(struct backend *backend, const char *const *instances, size_t count, int at_once)
{
    own(backend)->failing = instances;
    own(backend)->failing_count = count;
    own(backend)->fails_at_once = at_once;
}
