// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/client.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "link/far_knobs.h"
#include "link/far_memory.h"
#include "link/far_side.h"
#include "link/far_support.h"

#include <stdio.h>

enum {
    LOG_BYTES_MIN = 1 << 14,  // Messages, and
    LEFT_BYTES_MAX = 1 << 18, // written bytes, for which a wait alone does not wait.
};

struct client {
    struct backend backend; // First.
    struct far_side far;
    struct far_support support;
};

static struct far_side *own(const struct backend *backend)
{
    return &((struct client *)(uintptr_t)backend)->far;
}

static tapml_status client_flush(struct backend *backend)
{
    struct far_side *far = own(backend);
    if (!far->is_up || !far->is_busy) {
        return TAPML_OK;
    }
    far_side_begin(far, MESSAGE_FLUSH);
    wire_end(&far->log);
    return far_side_send(far, -1);
}

// A few bytes on their way to a device need no wait: they were copied, are sent with the next
// message, and keep their order in the queue. The next wait reports an error of them.
static int is_worth_a_wait(const struct far_side *far)
{
    return far->is_pending || far->is_wrapping || far->log.size > LOG_BYTES_MIN ||
           far->staging.bytes > LEFT_BYTES_MAX;
}

static tapml_status client_wait(struct backend *backend)
{
    struct far_side *far = own(backend);
    if (!far->is_busy) {
        return far->is_lost ? far_side_ready(far) : TAPML_OK;
    }
    return is_worth_a_wait(far) ? far_side_settle(far) : TAPML_OK;
}

static tapml_status client_signal(struct backend *backend, struct backend_point *out_point)
{
    struct far_side *far = own(backend);
    ASSERT(far->is_busy || !far->is_unmarked);
    if (far->is_unmarked) {
        far_side_begin(far, MESSAGE_SIGNAL);
        wire_put_u64(&far->log, far->signalled + 1);
        TAPML_TRY(far_side_end(far));
        far->signalled++;
        far->is_unmarked = 0;
    }
    *out_point = (struct backend_point){backend, far->signalled};
    return TAPML_OK;
}

static tapml_status client_wait_for(struct backend *backend, struct backend_point point)
{
    struct far_side *far = own(backend);
    ASSERT(point.owner == backend && point.value <= far->signalled);
    if (point.value <= far->reached) {
        return far->is_lost ? far_side_ready(far) : TAPML_OK;
    }
    ASSERT(far->is_busy);
    if (point.value == far->signalled && !far->is_unmarked) {
        return client_wait(backend); // Nothing is queued behind it.
    }
    return far_side_wait_for(far, point.value);
}

// -- Ops ---------------------------------------------------------------------------------------

static int client_has_op(struct backend *backend, const tapml_op *op)
{
    return far_side_has_op(own(backend), op);
}

static const char *client_identity(struct backend *backend, const tapml_op *op)
{
    // The build counts for an op that the plugin lacks: the next one may have it.
    return client_has_op(backend, op) ? op_list_identity(&own(backend)->ops, op)
                                      : own(backend)->info.build_id;
}

static const struct arithmetic *client_arithmetic(struct backend *backend, const tapml_op *op)
{
    return op_list_arithmetic(&own(backend)->ops, op);
}

static tapml_status client_knobs(struct backend *backend,
                                 const struct compiled_op *schema,
                                 const tapml_value *args,
                                 struct arena *arena,
                                 struct knob_space *out_space)
{
    return far_knobs_ask(own(backend), schema->op, args, arena, out_space);
}

static tapml_status client_supports(struct backend *backend,
                                    const struct compiled_op *schema,
                                    const tapml_value *args,
                                    tapml_support *answer)
{
    return far_support_ask(&((struct client *)backend)->support, own(backend), schema->op, args,
                           answer);
}

static tapml_status client_call(struct backend *backend, const struct backend_call *call)
{
    struct far_side *far = own(backend);
    const int has = far_side_has_op(far, call->op);
    const uint32_t index = op_list_find(&far->ops, call->op);
    if (!has) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: the device '%s' has no op '%s'",
                           far->info.component, far->info.device, call->op->name);
    }
    TAPML_TRY(crashes_check(&far->crashes, far->info.component, call->instance));
    crashes_note_call(&far->crashes, call->instance);
    TAPML_TRY(far_side_make_room(far));
    far_side_begin(far, MESSAGE_CALL);
    wire_put_u32(&far->log, index);
    wire_put_text(&far->log, call->instance);
    TAPML_TRY(far_support_put_args(far, call->op, call->args, buffer_number_of));
    far_side_note_work(far);
    far->is_pending = 1;
    far->is_counted = 0;
    far->has_launches = 0;
    return far_side_end(far);
}

static tapml_status client_stamp(struct backend *backend, uint64_t *out_ns)
{
    return far_memory_stamp(own(backend), out_ns);
}

// -- Counts ------------------------------------------------------------------------------------

static void count(struct far_side *far)
{
    struct wire_reader reader;
    int is_answered = 0;
    if (!far->is_up || far->is_counted) {
        return;
    }
    far_side_begin(far, MESSAGE_COUNT);
    wire_put_u32(&far->log, far->given.counter_count);
    if (far_side_ask(far, &reader, &is_answered) != TAPML_OK) {
        return; // The old counts stay; the next call reports the end.
    }
    far->counts[0] = wire_take_u64(&reader);
    const uint32_t sent = wire_take_u32(&reader);
    for (uint32_t i = 0; i < sent && i < FAR_SIDE_COUNTS_MAX; i++) {
        far->counts[i + 1] = wire_take_u64(&reader);
    }
    far->is_counted = 1;
}

static uint64_t client_launches(struct backend *backend)
{
    struct far_side *far = own(backend);
    if (!far->has_launches) {
        count(far);
    }
    return far->counts_before[0] + far->counts[0];
}

uint64_t client_count(struct backend *backend, uint32_t index)
{
    struct far_side *far = own(backend);
    count(far);
    return index < FAR_SIDE_COUNTS_MAX ? far->counts_before[index + 1] + far->counts[index + 1] : 0;
}

uint32_t client_crash_count(const struct backend *backend)
{
    return own(backend)->crash_count;
}

static uint64_t client_generation(const struct backend *backend)
{
    const struct far_side *far = own(backend);
    return far->is_wrapping ? 0 : far->crash_count;
}

static uint64_t client_kills(const struct backend *backend)
{
    return own(backend)->kill_count;
}

static void client_forgive(struct backend *backend)
{
    crashes_forgive(&own(backend)->crashes);
}

static void client_excuse(struct backend *backend)
{
    far_side_excuse(own(backend));
}

// -- Memory ------------------------------------------------------------------------------------

static tapml_status
client_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    return far_memory_new(own(backend), size, out_buffer);
}

static tapml_status client_buffer_wrap(struct backend *backend,
                                       void *memory,
                                       uint64_t size,
                                       uint32_t access,
                                       tapml_object **out_buffer)
{
    return far_memory_wrap(own(backend), memory, size, access, out_buffer);
}

static void client_buffer_free(struct backend *backend, tapml_object *object)
{
    far_memory_free(own(backend), object);
}

static tapml_status client_write(struct backend *backend,
                                 tapml_object *object,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    return far_memory_write(own(backend), object, offset, source, size);
}

static tapml_status client_read(
    struct backend *backend, tapml_object *object, uint64_t offset, void *target, uint64_t size)
{
    return far_memory_read(own(backend), object, offset, target, size);
}

static tapml_status client_fill(
    struct backend *backend, tapml_object *object, uint64_t offset, uint64_t size, uint32_t pattern)
{
    return far_memory_fill(own(backend), object, offset, size, pattern);
}

static tapml_status client_copy(struct backend *backend, const struct backend_copy *copy)
{
    return far_memory_copy(own(backend), copy);
}

static tapml_status client_share(struct backend *backend, const struct backend_share *share)
{
    return share_add(&own(backend)->shares, share);
}

static void client_unshare(struct backend *backend, const void *memory)
{
    far_memory_unshare(own(backend), memory);
}

// -- The whole ---------------------------------------------------------------------------------

static const struct backend_info *client_info(const struct backend *backend)
{
    return &own(backend)->info;
}

static void client_release(struct backend *backend)
{
    far_side_release(own(backend));
    alloc_free(backend);
}

static const struct backend_vt client_vt = {
    .release = client_release,
    .info = client_info,
    .has_op = client_has_op,
    .supports = client_supports,
    .buffer_new = client_buffer_new,
    .buffer_wrap = client_buffer_wrap,
    .buffer_free = client_buffer_free,
    .write = client_write,
    .read = client_read,
    .fill = client_fill,
    .copy = client_copy,
    .call = client_call,
    .flush = client_flush,
    .wait = client_wait,
    .signal = client_signal,
    .wait_for = client_wait_for,
    .stamp = client_stamp,
    .launches = client_launches,
    .identity = client_identity,
    .arithmetic = client_arithmetic,
    .knobs = client_knobs,
    .generation = client_generation,
    .kills = client_kills,
    .forgive = client_forgive,
    .excuse = client_excuse,
    .share = client_share,
    .unshare = client_unshare,
};

tapml_status client_create(const struct far_side_options *options, struct backend **out_backend)
{
    struct client *client = alloc_new(sizeof(*client));
    if (!client) {
        channel_release(options->channel);
        return status_no_memory();
    }
    client->backend.vt = &client_vt;
    const tapml_status status = far_side_open(&client->far, options);
    if (status != TAPML_OK) {
        client_release(&client->backend);
        return status;
    }
    *out_backend = &client->backend;
    return TAPML_OK;
}
