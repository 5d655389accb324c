// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "device/knobs.h"
#include "plugin/device_aside.h"
#include "plugin/device_buffers.h"
#include "plugin/device_state.h"
#include "plugin/device_table.h"
#include "plugin/device_tuning.h"
#include "plugin/process.h"

#include <stdio.h>
#include <string.h>

enum { IDENTITY_BYTES = 64 }; // Of the text of a digest, with its end.

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
    const size_t slot = (size_t)((uintptr_t)op >> 4) % DEVICE_FOUND_SLOTS;
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

static tapml_status begin_call(struct device *device, const struct backend_call *call)
{
    TAPML_TRY(device_state_begin(device));
    recent_calls_add(&device->calls, call);
    device_state_note_work(device);
    return TAPML_OK;
}

// `mode` is that of floating point before the call.
static tapml_status
end_call(struct device *device, const struct backend_call *call, uint64_t mode, tapml_status status)
{
    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        if (status == TAPML_OK) {
            status = status_fail(TAPML_INTERNAL, "it left another floating-point mode behind");
        }
    }
    status = device_state_finish(device, status, call->op->name);
    return status == TAPML_OK ? TAPML_OK : explain(device, status, device->calls.count);
}

static tapml_status device_call(struct backend *backend, const struct backend_call *call)
{
    struct device *device = device_own(backend);
    struct device_op *op = find_op(device, call->op);
    if (!op) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: the device '%s' has no op '%s'",
                           device->info.component, device->info.device, call->op->name);
    }
    if (op->lacks != 0) {
        TAPML_TRY(check_own(op, call->args));
    }
    TAPML_TRY(begin_call(device, call));
    const uint64_t mode = process_float_mode();
    return end_call(device, call, mode,
                    call_run(&op->frame, device->queue, &device->call, call->args));
}

static int device_has_op(struct backend *backend, const tapml_op *op)
{
    return find_op(device_own(backend), op) != NULL;
}

static tapml_status device_supports(struct backend *backend,
                                    const struct compiled_op *schema,
                                    const tapml_value *args,
                                    tapml_support *answer)
{
    struct device *device = device_own(backend);
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
    TAPML_TRY(device_state_begin(device));
    const tapml_status status = device->table->supports(
        device->device, &device->call, ours->frame.op, args, schema->op->n_params, answer);
    answer->reason[sizeof(answer->reason) - 1] = '\0';
    return device_state_finish(device, status, "supports");
}

// -- Tuning ------------------------------------------------------------------------------------

static tapml_status device_knobs(struct backend *backend,
                                 const struct compiled_op *schema,
                                 const tapml_value *args,
                                 struct arena *arena,
                                 struct knob_space *out_space)
{
    struct device *device = device_own(backend);
    const struct device_op *ours = find_op(device, schema->op);
    *out_space = (struct knob_space){.count = 0};
    return device->tuning && ours ? device_tuning_ask(device, ours, args, arena, out_space)
                                  : TAPML_OK;
}

static tapml_status
device_tune(struct backend *backend, const char *op, const tapml_setting *setting)
{
    struct device *device = device_own(backend);
    for (size_t i = 0; device->tuning && i < device->op_count; ++i) {
        if (strcmp(device->ops[i].frame.op->name, op) == 0) {
            return device_tuning_take(device, &device->ops[i], setting);
        }
    }
    return status_fail(TAPML_UNIMPLEMENTED, "%s: there is nothing to choose for '%s'",
                       device->info.component, op);
}

// -- Groups ------------------------------------------------------------------------------------

static tapml_status
device_supports_group(struct backend *backend, const tapml_group *group, tapml_support *answer)
{
    struct device *device = device_own(backend);
    if (!device->subgraph) {
        return TAPML_OK;
    }
    TAPML_TRY(device_state_begin(device));
    const tapml_status status =
        device->subgraph->supports(device->device, &device->call, group, answer);
    answer->reason[sizeof(answer->reason) - 1] = '\0';
    return device_state_finish(device, status, "supports of groups");
}

static tapml_status device_call_group(struct backend *backend,
                                      const tapml_group *group,
                                      const struct backend_call *call)
{
    struct device *device = device_own(backend);
    ASSERT(device->subgraph);
    TAPML_TRY(begin_call(device, call));
    const uint64_t mode = process_float_mode();
    return end_call(device, call, mode, device->subgraph->run(device->queue, &device->call, group));
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
    device_aside_close(device);
    release_object(&device->timeline);
    release_object(&device->queue);
}

static tapml_status open_queue(struct device *device)
{
    services_begin(&device->call);
    tapml_status status = device->table->queue_new(device->device, &device->call, &device->queue);
    TAPML_TRY(device_state_finish(device, status, "queue_new"));
    services_begin(&device->call);
    status = device->table->timeline_new(device->device, &device->call, device->signalled,
                                         &device->timeline);
    TAPML_TRY(device_state_finish(device, status, "timeline_new"));
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
    struct device *device = device_own(backend);
    device->flushed = device->signalled;
    if (!TAPML_HAS_FN(tapml_backend, device->table, queue_flush)) {
        return TAPML_OK;
    }
    TAPML_TRY(device_state_begin(device));
    return device_state_finish(device, device->table->queue_flush(device->queue, &device->call),
                               "queue_flush");
}

static tapml_status put_signal(struct device *device)
{
    const tapml_point point = {device->timeline, device->signalled + 1};
    if (!device->has_unmarked) {
        return TAPML_OK;
    }
    TAPML_TRY(device_state_begin(device));
    const tapml_status status = device->table->queue_signal(device->queue, &device->call, point);
    TAPML_TRY(device_state_finish(device, status, "queue_signal"));
    device->signalled++;
    device->has_unmarked = 0;
    return TAPML_OK;
}

static tapml_status await(struct device *device, uint64_t value)
{
    if (value > device->flushed) {
        TAPML_TRY(device_flush(&device->backend));
    }
    TAPML_TRY(device_state_begin(device));
    const tapml_status status =
        device->table->timeline_wait(device->timeline, &device->call, value, UINT64_MAX);
    TAPML_TRY(device_state_finish(device, status, "timeline_wait"));
    device->reached = value;
    device->has_pending = device->has_unmarked || device->reached < device->signalled;
    return TAPML_OK;
}

static tapml_status device_wait(struct backend *backend)
{
    struct device *device = device_own(backend);
    if (!device->has_pending && !device->aside.has_pending) {
        return device->is_lost ? device_state_begin(device) : TAPML_OK;
    }
    tapml_status status = device_aside_gather(device);
    device->has_pending = 0; // Also where it fails: nothing is queued any more.
    status = status == TAPML_OK ? put_signal(device) : status;
    if (status == TAPML_OK) {
        status = await(device, device->signalled);
    }
    return status == TAPML_OK ? TAPML_OK : recover(device, status);
}

static tapml_status device_signal(struct backend *backend, struct backend_point *out_point)
{
    struct device *device = device_own(backend);
    const tapml_status status = put_signal(device);
    if (status != TAPML_OK) {
        return recover(device, status);
    }
    *out_point = (struct backend_point){backend, device->signalled};
    return TAPML_OK;
}

static tapml_status device_wait_for(struct backend *backend, struct backend_point point)
{
    struct device *device = device_own(backend);
    ASSERT(point.owner == backend && point.value <= device->signalled);
    if (point.value <= device->reached) {
        return device->is_lost ? device_state_begin(device) : TAPML_OK;
    }
    const tapml_status status = await(device, point.value);
    return status == TAPML_OK ? TAPML_OK : recover(device, status);
}

// A plugin knows the timelines of its own component alone.
static tapml_status device_queue_wait(struct backend *backend, struct backend_point point)
{
    struct device *device = device_own(backend);
    const struct device *other =
        point.owner->vt->wait_for == device_wait_for ? device_own(point.owner) : NULL;
    if (!other || other->root != device->root ||
        !TAPML_HAS_FN(tapml_backend, device->table, queue_wait)) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it waits for no point of another device",
                           device->info.component);
    }
    ASSERT(point.value <= other->flushed);
    if (point.value <= other->reached) {
        return TAPML_OK;
    }
    TAPML_TRY(device_state_begin(device));
    const tapml_status status = device->table->queue_wait(
        device->queue, &device->call, (tapml_point){other->timeline, point.value});
    return device_state_finish(device, status, "queue_wait");
}

static tapml_status device_notify(struct backend *backend,
                                  struct backend_point point,
                                  tapml_notified function,
                                  void *user)
{
    struct device *device = device_own(backend);
    ASSERT(point.owner == backend && point.value <= device->flushed);
    if (!TAPML_HAS_FN(tapml_backend, device->table, timeline_notify)) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it notifies of no point",
                           device->info.component);
    }
    TAPML_TRY(device_state_begin(device));
    if (point.value <= device->reached) {
        function(user, TAPML_OK);
        return TAPML_OK;
    }
    const tapml_status status = device->table->timeline_notify(device->timeline, &device->call,
                                                               point.value, function, user);
    return device_state_finish(device, status, "timeline_notify");
}

static uint64_t device_launches(struct backend *backend)
{
    struct device *device = device_own(backend);
    return device->launches_before +
           (device->counters ? device->counters->launches(device->queue) : 0);
}

// Text that is no digest as it should be counts as none: then any change makes results stale.
static const char *device_identity(struct backend *backend, const tapml_op *op)
{
    const struct device *device = device_own(backend);
    const int is_known = device->subgraph || find_op(device_own(backend), op);
    const char *digest =
        device->identity && is_known ? device->identity->digest(device->device, op) : NULL;
    const size_t length = digest ? strnlen(digest, IDENTITY_BYTES) : 0;
    digest = length > 0 && length < IDENTITY_BYTES ? digest : device->info.build_id;
    struct device_op *found = find_op(device_own(backend), op);
    return found && found->tuned != 0 ? device_tuning_identity(found, digest) : digest;
}

static const struct arithmetic *device_arithmetic(struct backend *backend, const tapml_op *op)
{
    const struct device_op *found = find_op(device_own(backend), op);
    return found ? &found->arithmetic : &arithmetic_f32;
}

// A lost device stays lost: nothing comes back here.
static uint64_t device_generation(const struct backend *backend)
{
    return 0;
}

// -- Opening and closing -----------------------------------------------------------------------

static const struct backend_info *device_info(const struct backend *backend)
{
    return &device_own(backend)->info;
}

static void device_release(struct backend *backend)
{
    struct device *device = device_own(backend);
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
    .buffer_new = device_buffers_new,
    .buffer_wrap = device_buffers_wrap,
    .buffer_free = device_buffers_free,
    .write = device_buffers_write,
    .read = device_buffers_read,
    .fill = device_buffers_fill,
    .copy = device_buffers_copy,
    .map = device_buffers_map,
    .unmap = device_buffers_unmap,
    .call = device_call,
    .supports_group = device_supports_group,
    .call_group = device_call_group,
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
    .aside = device_aside,
    .knobs = device_knobs,
    .tune = device_tune,
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
    TAPML_TRY(device_state_finish(
        device, options->table->devices(options->root, &device->call, &list, &count), "devices"));
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
    TAPML_TRY(device_state_finish(
        device, options->table->ops(device->device, &device->call, &list, &count), "ops"));
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
    TAPML_TRY(device_state_finish(device, status, "open"));
    const tapml_identity *identity =
        device->device->vt->interface_of(device->device, TAPML_IDENTITY);
    device->identity = TAPML_HAS_FN(tapml_identity, identity, digest) ? identity : NULL;
    const tapml_arithmetic *arithmetic =
        device->device->vt->interface_of(device->device, TAPML_ARITHMETIC);
    device->arithmetic = TAPML_HAS_FN(tapml_arithmetic, arithmetic, form) ? arithmetic : NULL;
    const tapml_subgraph *subgraph =
        device->device->vt->interface_of(device->device, TAPML_SUBGRAPH);
    device->subgraph =
        TAPML_HAS_FN(tapml_subgraph, subgraph, run) && subgraph->supports ? subgraph : NULL;
    device->info.takes_groups = device->subgraph != NULL;
    device->tuning = device_tuning_find(device->device);
    const tapml_limits *limits = device->device->vt->interface_of(device->device, TAPML_LIMITS);
    device->info.limits = TAPML_HAS(tapml_limits, limits, half) ? limits : NULL;
    device->memory = device_memory_find(device->table, device->device, &device->call,
                                        device->info.is_host_memory);
    if (device->memory.handles) {
        device->info.borrowing = BACKEND_BORROWS_WHOLE;
    }
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
    return device_own(backend)->op_count;
}

const tapml_op *device_op_at(const struct backend *backend, size_t index)
{
    return device_own(backend)->ops[index].frame.op;
}
