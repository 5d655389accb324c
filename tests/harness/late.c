// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/late.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BUFFER_POISON = 0xa5 };

struct late_buffer {
    tapml_object object;
    unsigned char *memory;
    uint64_t size;
    tapml_object *inner; // Wraps `memory`; or NULL.
};

enum late_kind { LATE_WRITE, LATE_READ, LATE_FILL, LATE_CALL, LATE_SIGNAL };

struct late_work {
    enum late_kind kind;
    struct late_buffer *buffer;
    uint64_t offset;
    uint64_t size;
    const void *source;
    void *target;
    uint32_t pattern;
    struct backend_call call; // All that it points to is in the batch's arena.
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
};

static struct late *own(const struct backend *backend)
{
    return (struct late *)(uintptr_t)backend;
}

static struct late_work *add_work(struct late *late, enum late_kind kind)
{
    if (!late->arena) {
        late->arena = arena_create();
    }
    const int has_room =
        alloc_grow((void **)&late->work, &late->capacity, late->count, sizeof(*late->work));
    ASSERT(late->arena && has_room);
    late->work[late->count] = (struct late_work){.kind = kind};
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
    alloc_free(buffer->memory);
    alloc_free(buffer);
    late->counts.buffers_alive--;
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

static tapml_status late_call(struct backend *backend, const struct backend_call *call)
{
    struct late *late = own(backend);
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

static int is_at(const char *instance, const struct backend_call *call)
{
    return instance && strcmp(instance, call->instance) == 0;
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
    case LATE_CALL:
        break;
    }
    if (is_at(late->options.fails, &work->call)) {
        return status_fail(TAPML_INTERNAL, "%s: as it was told", work->call.instance);
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
        late->done = late->count = 0;
        late->reached = late->signalled;
        arena_destroy(late->arena);
        late->arena = NULL;
    }
    return status;
}

static tapml_status late_wait(struct backend *backend)
{
    return perform_to(own(backend), UINT64_MAX);
}

static tapml_status late_signal(struct backend *backend, struct backend_point *out_point)
{
    struct late *late = own(backend);
    if (late->count > 0 && late->work[late->count - 1].kind != LATE_SIGNAL) {
        (void)add_work(late, LATE_SIGNAL);
        late->signalled++;
    }
    late->counts.signals++;
    *out_point = (struct backend_point){backend, late->signalled};
    return TAPML_OK;
}

static tapml_status late_wait_for(struct backend *backend, struct backend_point point)
{
    struct late *late = own(backend);
    ASSERT(point.owner == backend && point.value <= late->signalled);
    return point.value > late->reached ? perform_to(late, point.value) : TAPML_OK;
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
        .notify = late_notify,
        .launches = late_launches,
        .identity = late_identity,
        .generation = late_generation,
    };
    struct late *late = alloc_new(sizeof(*late));
    ASSERT(late);
    late->backend.vt = &vt;
    late->options = *options;
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
