// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "plugin/call.h"
#include "plugin/device_table.h"
#include "plugin/process.h"
#include "plugin/recent_calls.h"
#include "plugin/services.h"

#include <stdio.h>
#include <string.h>

enum {
    FOUND_SLOTS = 256,
    IDENTITY_BYTES = 64, // Of the text of a digest, with its end.
};

struct device_op {
    struct call_frame frame;
    struct arithmetic arithmetic;     // As the device declares it.
    const struct compiled_op *schema; // Of the plugin.
    uint32_t lacks;                   // Parameters of which it has less than the catalogue.
};

struct device {
    struct backend backend;
    struct arena *arena;
    struct backend_info info;
    const tapml_backend *table;
    const tapml_object *root; // Of the component.
    tapml_object *device;
    tapml_object *queue;
    tapml_object *timeline;
    const tapml_identity *identity;     // Of the device, or NULL.
    const tapml_arithmetic *arithmetic; // Of the device, or NULL.
    const tapml_counters *counters;     // Of the queue, or NULL.
    uint64_t launches_before;           // Of queues that are gone.
    uint64_t signalled;                 // The last point: the timeline's last value.
    uint64_t flushed;                   // The last point that was handed over,
    uint64_t reached;                   // and the last that is known to be reached.
    int has_pending;                    // Something was queued since the last wait for all,
    int has_unmarked;                   // and since the last point.
    int is_lost;
    char loss[512]; // What was said when it was.
    struct tapml_call call;
    struct device_op *ops;
    size_t op_count;
    struct {
        const tapml_op *key;
        struct device_op *op; // NULL: the device lacks it.
    } found[FOUND_SLOTS];
    struct recent_calls calls; // On the queue.
};

static struct device *own(const struct backend *backend)
{
    return (struct device *)(uintptr_t)backend;
}

static tapml_status finish(struct device *device, tapml_status status, const char *method)
{
    const int is_loss = status == TAPML_DEVICE_LOST && !device->is_lost;
    const tapml_status result = services_end(&device->call, status, device->info.component, method);
    if (is_loss) {
        device->is_lost = 1;
        (void)snprintf(device->loss, sizeof(device->loss), "%s", status_message());
    }
    return result;
}

static tapml_status begin(struct device *device)
{
    if (device->is_lost) { // Each later use reports why.
        return status_fail(TAPML_DEVICE_LOST, "%s", device->loss);
    }
    if (!device->queue) {
        return status_fail(TAPML_DEVICE_LOST, "%s: the device '%s' is lost", device->info.component,
                           device->info.device);
    }
    services_begin(&device->call);
    return TAPML_OK;
}

static void note_work(struct device *device)
{
    device->has_pending = 1;
    device->has_unmarked = 1;
}

// -- Ops ---------------------------------------------------------------------------------------

static struct device_op *search_op(struct device *device, const tapml_op *op)
{
    for (size_t i = 0; i < device->op_count; ++i) {
        const tapml_op *ours = device->ops[i].frame.op;
        if (ours->version == op->version && strcmp(ours->name, op->name) == 0) {
            return &device->ops[i];
        }
    }
    return NULL;
}

// The device's own op of this name and version. The last answer for each address is kept: schemas
// live as long as their plugins.
static struct device_op *find_op(struct device *device, const tapml_op *op)
{
    const size_t slot = (size_t)((uintptr_t)op >> 4) % FOUND_SLOTS;
    if (device->found[slot].key != op) {
        device->found[slot].op = search_op(device, op);
        device->found[slot].key = op;
    }
    return device->found[slot].op;
}

// Of an op whose plugin lists fewer dtypes or has smaller domains than the catalogue: whether the
// plugin knows such a call.
static tapml_status check_own(const struct device_op *op, const tapml_value *args)
{
    struct inferred inferred;
    TAPML_TRY(infer_call(op->schema, args, &inferred));
    return infer_domains(&inferred, args, op->lacks);
}

static tapml_status explain(struct device *device, tapml_status status, uint64_t number)
{
    char place[RECENT_CALLS_TEXT];
    recent_calls_print(&device->calls, number, place);
    return status_explain(status, "%s", place);
}

static tapml_status device_call(struct backend *backend, const struct backend_call *call)
{
    struct device *device = own(backend);
    struct device_op *op = find_op(device, call->op);
    if (!op) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: the device '%s' has no op '%s'",
                           device->info.component, device->info.device, call->op->name);
    }
    if (op->lacks != 0) {
        TAPML_TRY(check_own(op, call->args));
    }
    TAPML_TRY(begin(device));
    recent_calls_add(&device->calls, call);
    note_work(device);
    const uint64_t mode = process_float_mode();
    tapml_status status = call_run(&op->frame, device->queue, &device->call, call->args);
    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        if (status == TAPML_OK) {
            status = status_fail(TAPML_INTERNAL, "it left another floating-point mode behind");
        }
    }
    status = finish(device, status, call->op->name);
    return status == TAPML_OK ? TAPML_OK : explain(device, status, device->calls.count);
}

static int device_has_op(struct backend *backend, const tapml_op *op)
{
    return find_op(own(backend), op) != NULL;
}

static tapml_status device_supports(struct backend *backend,
                                    const struct compiled_op *schema,
                                    const tapml_value *args,
                                    tapml_support *answer)
{
    struct device *device = own(backend);
    struct device_op *ours = find_op(device, schema->op);
    struct inferred inferred;
    memset(answer, 0, sizeof(*answer));
    answer->hdr = (tapml_hdr)TAPML_HDR(tapml_support);
    if (!ours) {
        snprintf(answer->reason, sizeof(answer->reason), "it has no op '%s'", schema->op->name);
        return TAPML_OK;
    }
    TAPML_TRY(infer_call(schema, args, &inferred));
    if (ours->lacks != 0 && check_own(ours, args) != TAPML_OK) {
        snprintf(answer->reason, sizeof(answer->reason), "%s", status_message());
        return TAPML_OK;
    }
    if (!TAPML_HAS_FN(tapml_backend, device->table, supports)) {
        answer->grade = TAPML_SUPPORT_YES;
        return TAPML_OK;
    }
    TAPML_TRY(begin(device));
    const tapml_status status = device->table->supports(
        device->device, &device->call, ours->frame.op, args, schema->op->n_params, answer);
    answer->reason[sizeof(answer->reason) - 1] = '\0';
    return finish(device, status, "supports");
}

// -- Queue and timeline ------------------------------------------------------------------------

static void release_object(tapml_object **object)
{
    if (*object) {
        (*object)->vt->release(*object);
        *object = NULL;
    }
}

static void close_queue(struct device *device)
{
    if (device->counters) {
        device->launches_before += device->counters->launches(device->queue);
        device->counters = NULL;
    }
    release_object(&device->timeline);
    release_object(&device->queue);
}

static tapml_status open_queue(struct device *device)
{
    services_begin(&device->call);
    tapml_status status = device->table->queue_new(device->device, &device->call, &device->queue);
    TAPML_TRY(finish(device, status, "queue_new"));
    services_begin(&device->call);
    status = device->table->timeline_new(device->device, &device->call, device->signalled,
                                         &device->timeline);
    TAPML_TRY(finish(device, status, "timeline_new"));
    device->flushed = device->reached = device->signalled;
    recent_calls_clear(&device->calls);
    device->has_pending = 0;
    device->has_unmarked = 0;
    const tapml_counters *counters = device->queue->vt->interface_of(device->queue, TAPML_COUNTERS);
    device->counters = TAPML_HAS_FN(tapml_counters, counters, launches) ? counters : NULL;
    return TAPML_OK;
}

// The queue answers with an error from now on: another one takes its place. Points that were given
// out count as reached, since nothing is queued any more.
static tapml_status recover(struct device *device, tapml_status status)
{
    if (device->call.blamed > 0) {
        status = explain(device, status, device->call.blamed);
        device->call.blamed = 0;
    }
    if (device->is_lost) {
        close_queue(device); // Which notifies whatever waits for it.
        return status;
    }
    char *message = alloc_text(status_message());
    close_queue(device);
    if (open_queue(device) != TAPML_OK && !device->is_lost) {
        device->is_lost = 1;
        (void)snprintf(device->loss, sizeof(device->loss), "%s", status_message());
    }
    if (message) {
        (void)status_fail(status, "%s", message);
    }
    alloc_free(message);
    return status;
}

static tapml_status device_flush(struct backend *backend)
{
    struct device *device = own(backend);
    device->flushed = device->signalled;
    if (!TAPML_HAS_FN(tapml_backend, device->table, queue_flush)) {
        return TAPML_OK;
    }
    TAPML_TRY(begin(device));
    return finish(device, device->table->queue_flush(device->queue, &device->call), "queue_flush");
}

static tapml_status put_signal(struct device *device)
{
    const tapml_point point = {device->timeline, device->signalled + 1};
    if (!device->has_unmarked) {
        return TAPML_OK;
    }
    TAPML_TRY(begin(device));
    const tapml_status status = device->table->queue_signal(device->queue, &device->call, point);
    TAPML_TRY(finish(device, status, "queue_signal"));
    device->signalled++;
    device->has_unmarked = 0;
    return TAPML_OK;
}

static tapml_status await(struct device *device, uint64_t value)
{
    if (value > device->flushed) {
        TAPML_TRY(device_flush(&device->backend));
    }
    TAPML_TRY(begin(device));
    const tapml_status status =
        device->table->timeline_wait(device->timeline, &device->call, value, UINT64_MAX);
    TAPML_TRY(finish(device, status, "timeline_wait"));
    device->reached = value;
    device->has_pending = device->has_unmarked || device->reached < device->signalled;
    return TAPML_OK;
}

static tapml_status device_wait(struct backend *backend)
{
    struct device *device = own(backend);
    if (!device->has_pending) {
        return device->is_lost ? begin(device) : TAPML_OK;
    }
    device->has_pending = 0; // Also where it fails: nothing is queued any more.
    tapml_status status = put_signal(device);
    if (status == TAPML_OK) {
        status = await(device, device->signalled);
    }
    return status == TAPML_OK ? TAPML_OK : recover(device, status);
}

static tapml_status device_signal(struct backend *backend, struct backend_point *out_point)
{
    struct device *device = own(backend);
    const tapml_status status = put_signal(device);
    if (status != TAPML_OK) {
        return recover(device, status);
    }
    *out_point = (struct backend_point){backend, device->signalled};
    return TAPML_OK;
}

static tapml_status device_wait_for(struct backend *backend, struct backend_point point)
{
    struct device *device = own(backend);
    ASSERT(point.owner == backend && point.value <= device->signalled);
    if (point.value <= device->reached) {
        return device->is_lost ? begin(device) : TAPML_OK;
    }
    const tapml_status status = await(device, point.value);
    return status == TAPML_OK ? TAPML_OK : recover(device, status);
}

// A plugin knows the timelines of its own component alone.
static tapml_status device_queue_wait(struct backend *backend, struct backend_point point)
{
    struct device *device = own(backend);
    const struct device *other =
        point.owner->vt->wait_for == device_wait_for ? own(point.owner) : NULL;
    if (!other || other->root != device->root ||
        !TAPML_HAS_FN(tapml_backend, device->table, queue_wait)) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it waits for no point of another device",
                           device->info.component);
    }
    ASSERT(point.value <= other->flushed);
    if (point.value <= other->reached) {
        return TAPML_OK;
    }
    TAPML_TRY(begin(device));
    const tapml_status status = device->table->queue_wait(
        device->queue, &device->call, (tapml_point){other->timeline, point.value});
    return finish(device, status, "queue_wait");
}

static tapml_status device_notify(struct backend *backend,
                                  struct backend_point point,
                                  tapml_notified function,
                                  void *user)
{
    struct device *device = own(backend);
    ASSERT(point.owner == backend && point.value <= device->flushed);
    if (!TAPML_HAS_FN(tapml_backend, device->table, timeline_notify)) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it notifies of no point",
                           device->info.component);
    }
    TAPML_TRY(begin(device));
    if (point.value <= device->reached) {
        function(user, TAPML_OK);
        return TAPML_OK;
    }
    const tapml_status status = device->table->timeline_notify(device->timeline, &device->call,
                                                               point.value, function, user);
    return finish(device, status, "timeline_notify");
}

static uint64_t device_launches(struct backend *backend)
{
    struct device *device = own(backend);
    return device->launches_before +
           (device->counters ? device->counters->launches(device->queue) : 0);
}

// Text that is no digest as it should be counts as none: then any change makes results stale.
static const char *device_identity(struct backend *backend, const tapml_op *op)
{
    const struct device *device = own(backend);
    const char *digest = device->identity && find_op(own(backend), op)
                             ? device->identity->digest(device->device, op)
                             : NULL;
    const size_t length = digest ? strnlen(digest, IDENTITY_BYTES) : 0;
    return length > 0 && length < IDENTITY_BYTES ? digest : device->info.build_id;
}

static const struct arithmetic *device_arithmetic(struct backend *backend, const tapml_op *op)
{
    const struct device_op *found = find_op(own(backend), op);
    return found ? &found->arithmetic : &arithmetic_f32;
}

// A lost device stays lost: nothing comes back here.
static uint64_t device_generation(const struct backend *backend)
{
    return 0;
}

// -- Memory ------------------------------------------------------------------------------------

static tapml_status
device_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    struct device *device = own(backend);
    TAPML_TRY(begin(device));
    return finish(device,
                  device->table->buffer_new(device->device, &device->call, 0, size, out_buffer),
                  "buffer_new");
}

static tapml_status device_buffer_wrap(struct backend *backend,
                                       void *memory,
                                       uint64_t size,
                                       uint32_t access,
                                       tapml_object **out_buffer)
{
    struct device *device = own(backend);
    if (!TAPML_HAS_FN(tapml_backend, device->table, buffer_wrap)) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: the device '%s' cannot use memory of the host",
                           device->info.component, device->info.device);
    }
    TAPML_TRY(begin(device));
    const tapml_status status =
        device->table->buffer_wrap(device->device, &device->call, memory, size, access, out_buffer);
    return finish(device, status, "buffer_wrap");
}

static void device_buffer_free(struct backend *backend, tapml_object *buffer)
{
    buffer->vt->release(buffer);
}

static tapml_status begin_transfer(struct device *device)
{
    note_work(device);
    return begin(device);
}

static tapml_status device_write(struct backend *backend,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    struct device *device = own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_write(device->queue, &device->call, buffer, offset, source, size);
    return finish(device, status, "queue_write");
}

static tapml_status device_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    struct device *device = own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_read(device->queue, &device->call, buffer, offset, target, size);
    return finish(device, status, "queue_read");
}

static tapml_status device_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct device *device = own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_fill(device->queue, &device->call, buffer, offset, size, pattern);
    return finish(device, status, "queue_fill");
}

static tapml_status device_copy(struct backend *backend, const struct backend_copy *copy)
{
    struct device *device = own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_copy(device->queue, &device->call, copy->source, copy->source_offset,
                                  copy->target, copy->target_offset, copy->size);
    return finish(device, status, "queue_copy");
}

// Memory of the host alone: of other devices that is a mapping at a price.
static tapml_status device_map(struct backend *backend,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               const void **out_memory)
{
    struct device *device = own(backend);
    void *memory = NULL;
    if (!device->info.is_host_memory || !TAPML_HAS_FN(tapml_backend, device->table, buffer_map) ||
        !TAPML_HAS_FN(tapml_backend, device->table, buffer_unmap)) {
        return TAPML_OK;
    }
    TAPML_TRY(begin(device));
    TAPML_TRY(finish(
        device,
        device->table->buffer_map(buffer, &device->call, offset, size, TAPML_ACCESS_READ, &memory),
        "buffer_map"));
    *out_memory = memory;
    return TAPML_OK;
}

static void device_unmap(struct backend *backend, tapml_object *buffer)
{
    struct device *device = own(backend);
    services_begin(&device->call);
    // Nothing was written: a failure changes nothing.
    (void)finish(device, device->table->buffer_unmap(buffer, &device->call), "buffer_unmap");
}

// -- Opening and closing -----------------------------------------------------------------------

static const struct backend_info *device_info(const struct backend *backend)
{
    return &own(backend)->info;
}

static void device_release(struct backend *backend)
{
    struct device *device = own(backend);
    close_queue(device);
    release_object(&device->device);
    arena_destroy(device->arena);
    alloc_free(device);
}

static const struct backend_vt device_vt = {
    .release = device_release,
    .info = device_info,
    .has_op = device_has_op,
    .supports = device_supports,
    .buffer_new = device_buffer_new,
    .buffer_wrap = device_buffer_wrap,
    .buffer_free = device_buffer_free,
    .write = device_write,
    .read = device_read,
    .fill = device_fill,
    .copy = device_copy,
    .map = device_map,
    .unmap = device_unmap,
    .call = device_call,
    .flush = device_flush,
    .wait = device_wait,
    .signal = device_signal,
    .wait_for = device_wait_for,
    .queue_wait = device_queue_wait,
    .notify = device_notify,
    .launches = device_launches,
    .identity = device_identity,
    .arithmetic = device_arithmetic,
    .generation = device_generation,
};

static tapml_status fill_info(struct device *device,
                              const struct device_options *options,
                              const tapml_device_info *info)
{
    device->info = (struct backend_info){
        .component = options->component,
        .plugin = options->plugin,
        .plugin_version = options->plugin_version,
        .build_id = options->build_id ? options->build_id : "",
    };
    return device_table_describe(options->table, info, device->arena, &device->info);
}

static tapml_status choose_device(struct device *device, const struct device_options *options)
{
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0;
    uint32_t index = 0;
    device->info.component = options->component;
    services_begin(&device->call);
    TAPML_TRY(finish(device, options->table->devices(options->root, &device->call, &list, &count),
                     "devices"));
    TAPML_TRY(device_table_check_list(list, count));
    TAPML_TRY(device_table_find(options->component, options->device, list, count, &index));
    return fill_info(device, options, list[index]);
}

// What the device declares of an op, which the host has to know to judge it.
static tapml_status take_arithmetic(struct device *device, struct device_op *op)
{
    const tapml_arithmetic_form *form =
        device->arithmetic ? device->arithmetic->form(device->device, op->frame.op) : NULL;
    if (!form) {
        return TAPML_OK;
    }
    if (!TAPML_HAS(tapml_arithmetic_form, form, result)) {
        return status_fail(TAPML_ABI_MISMATCH, "%s: '%s' declares its arithmetic in too few bytes",
                           device->info.component, op->frame.op->name);
    }
    op->arithmetic = (struct arithmetic){.inputs = form->inputs,
                                         .block = form->block,
                                         .weights = form->weights,
                                         .accumulator = form->accumulator,
                                         .result = form->result};
    const tapml_status status = arithmetic_check(&op->arithmetic);
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "%s: '%s' declares", device->info.component,
                                               op->frame.op->name);
}

static tapml_status
take_op(struct device *device, const struct device_options *options, const tapml_op_impl *impl)
{
    if (!TAPML_HAS(tapml_op_impl, impl, reserved) || !impl->op) {
        return status_fail(TAPML_ABI_MISMATCH, "%s: an op is described by too short a struct",
                           options->component);
    }
    struct device_op *op = &device->ops[device->op_count];
    struct catalogue_op found = {0};
    const tapml_status status =
        catalogue_add(options->catalogue, impl->op, options->component, &found);
    if (status != TAPML_OK) {
        return status == TAPML_NO_MEMORY ? status : TAPML_ABI_MISMATCH;
    }
    TAPML_TRY(call_prepare(impl, &op->frame));
    call_use_typed(&op->frame, found.schema->op);
    op->schema = found.own;
    op->lacks = found.lacks;
    ++device->op_count;
    return take_arithmetic(device, op);
}

static tapml_status take_ops(struct device *device, const struct device_options *options)
{
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;
    services_begin(&device->call);
    TAPML_TRY(
        finish(device, options->table->ops(device->device, &device->call, &list, &count), "ops"));
    device->ops = arena_array(device->arena, (size_t)count + 1, sizeof(*device->ops));
    if (!device->ops) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; ++i) {
        TAPML_TRY(take_op(device, options, list[i]));
    }
    return TAPML_OK;
}

static tapml_status open_all(struct device *device, const struct device_options *options)
{
    TAPML_TRY(choose_device(device, options));
    services_begin(&device->call);
    const tapml_status status =
        options->table->open(options->root, &device->call, device->info.device, &device->device);
    TAPML_TRY(finish(device, status, "open"));
    const tapml_identity *identity =
        device->device->vt->interface_of(device->device, TAPML_IDENTITY);
    device->identity = TAPML_HAS_FN(tapml_identity, identity, digest) ? identity : NULL;
    const tapml_arithmetic *arithmetic =
        device->device->vt->interface_of(device->device, TAPML_ARITHMETIC);
    device->arithmetic = TAPML_HAS_FN(tapml_arithmetic, arithmetic, form) ? arithmetic : NULL;
    const tapml_limits *limits = device->device->vt->interface_of(device->device, TAPML_LIMITS);
    device->info.limits = TAPML_HAS(tapml_limits, limits, half) ? limits : NULL;
    TAPML_TRY(take_ops(device, options));
    return open_queue(device);
}

tapml_status device_open(const struct device_options *options, struct backend **out_backend)
{
    struct device *device = alloc_new(sizeof(*device));
    if (!device) {
        return status_no_memory();
    }
    device->backend.vt = &device_vt;
    device->table = options->table;
    device->root = options->root;
    device->arena = arena_create();
    const tapml_status status = device->arena ? open_all(device, options) : status_no_memory();
    if (status != TAPML_OK) {
        device_release(&device->backend);
        return status;
    }
    *out_backend = &device->backend;
    return TAPML_OK;
}

size_t device_op_count(const struct backend *backend)
{
    return own(backend)->op_count;
}

const tapml_op *device_op_at(const struct backend *backend, size_t index)
{
    return own(backend)->ops[index].frame.op;
}
