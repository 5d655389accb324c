// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/far_side.h"

#include "base/assert.h"
#include "link/backlog.h"

#include <stdatomic.h>
#include <stdio.h>

enum {
    SEND_BYTES = 1 << 14,    // Queued messages that are worth a system call.
    LOG_BYTES_MAX = 1 << 16, // Then the near side waits, so that the log does not grow for ever.
    STARTS_MAX = 2,          // Failures to start again, one after the other, before it is lost.
    PLACE_BYTES = 256,
    HANGS_MAX = 2,  // An op that has hung so often
    HUNG_PARTS = 4, // gets this part of the deadline.
};

// Nothing is queued any more, by whatever way.
static void forget_work(struct far_side *far)
{
    ASSERT(far->reached <= far->signalled);
    staging_clear(&far->staging, far->shared);
    far->log.size = 0;
    far->sent = 0;
    far->is_busy = 0;
    far->is_pending = 0;
    far->is_unmarked = 0;
    far->reached = far->signalled;
}

static struct backlog backlog_of(const struct far_side *far)
{
    return (struct backlog){far->log.data, far->log.size, far->ops.items, far->ops.count};
}

static void note_hang(struct far_side *far, const tapml_op *op)
{
    uint32_t at = 0;
    while (at < far->hang_count && far->hangs[at].op != op) {
        at++;
    }
    if (at == FAR_SIDE_HANGS_MAX) {
        return;
    }
    far->hangs[at].op = op;
    far->hangs[at].count++;
    far->hang_count += at == far->hang_count ? 1 : 0;
    far->last_hang = &far->hangs[at];
}

void far_side_excuse(struct far_side *far)
{
    crashes_excuse(&far->crashes);
    if (far->last_hang) {
        far->last_hang->count--;
        far->last_hang = NULL;
    }
}

// The least that an answer to what is queued may take; 0: without limit.
static uint64_t deadline_of(const struct far_side *far)
{
    const struct backlog backlog = backlog_of(far);
    for (uint32_t i = 0; i < far->hang_count; i++) {
        if (far->hangs[i].count >= HANGS_MAX && backlog_calls(&backlog, far->hangs[i].op)) {
            return far->given.deadline_ns / HUNG_PARTS;
        }
    }
    return far->given.deadline_ns;
}

// Who is known to have ended it, with the message at hand. One whose process was killed by somebody
// else is innocent, unless it happens to it again and again.
static void note_crash(struct far_side *far, const struct backlog_culprit *culprit)
{
    const int was_killed = channel_was_killed(far->given.channel);
    far->crash_count++;
    far->kill_count += was_killed ? 1 : 0;
    if (was_killed) {
        crashes_note_kill(&far->crashes, culprit, status_message());
    } else {
        crashes_note(&far->crashes, culprit, status_message());
    }
}

// The far side has ended, with the message at hand: makes the verdict of it.
static tapml_status note_end(struct far_side *far, tapml_status status)
{
    char how[512], place[PLACE_BYTES];
    const struct backlog backlog = backlog_of(far);
    const struct backlog_culprit culprit = backlog_find_culprit(
        &backlog, (uint32_t)atomic_load_explicit((_Atomic(uint64_t) *)(void *)far->control.memory,
                                                 memory_order_relaxed));
    const char *words = channel_last_words(far->given.channel);
    const char *name = far->info.component ? far->info.component : far->given.name;
    const tapml_status code = status == TAPML_DEADLINE ? TAPML_DEADLINE : TAPML_INTERNAL;
    (void)snprintf(how, sizeof(how), "%s", status_message());
    backlog_print(&culprit, place, sizeof(place));
    (void)status_fail(code, "%s: the worker %s%s%s%s", name ? name : "opening", how, place,
                      words[0] ? "; it wrote: " : "", words);
    note_crash(far, &culprit);
    far->last_hang = NULL;
    if (code == TAPML_DEADLINE && culprit.op && culprit.is_sure) {
        note_hang(far, culprit.op);
    }
    far->is_up = 0;
    far->regions_sent = 0;
    share_forget_sent(&far->shares);
    for (size_t i = 0; i <= FAR_SIDE_COUNTS_MAX; i++) {
        far->counts_before[i] += far->counts[i];
        far->counts[i] = 0;
    }
    far->has_launches = 0;
    forget_work(far);
    return code;
}

void far_side_begin(struct far_side *far, enum message_verb verb)
{
    wire_begin(&far->log, (uint16_t)verb, ++far->number);
}

tapml_status far_side_send(struct far_side *far, int descriptor)
{
    struct channel *channel = far->given.channel;
    ASSERT(far->sent <= far->log.size);
    if (far->log.is_failed) {
        far->is_lost = 1;
        return status_no_memory();
    }
    if (far->sent == far->log.size) {
        return TAPML_OK;
    }
    const tapml_status status =
        channel_send(channel, far->log.data + far->sent, far->log.size - far->sent, descriptor);
    far->sent = far->log.size;
    return status == TAPML_OK ? TAPML_OK : note_end(far, status);
}

void far_side_note_work(struct far_side *far)
{
    far->is_busy = 1;
    far->is_unmarked = 1;
}

tapml_status far_side_end(struct far_side *far)
{
    wire_end(&far->log);
    return far->log.is_failed || far->log.size - far->sent >= SEND_BYTES ? far_side_send(far, -1)
                                                                         : TAPML_OK;
}

static tapml_status receive(struct far_side *far, struct wire_frame *out_frame)
{
    struct channel *channel = far->given.channel;
    const uint64_t floor_ns = deadline_of(far);
    uint64_t all_ns = floor_ns > 0 ? floor_ns : UINT64_MAX;
    tapml_status status = channel_receive(channel, all_ns, out_frame);
    if (status == TAPML_DEADLINE) {
        const struct backlog backlog = backlog_of(far);
        const uint64_t more_ns = backlog_allowance_ns(&backlog);
        status = more_ns > 0 ? channel_receive(channel, more_ns, out_frame) : status;
        all_ns += more_ns;
    }
    if (status == TAPML_DEADLINE) {
        channel_stop(channel);
        (void)status_fail(status, "did not answer within %.3g s and was ended",
                          (double)all_ns / 1e9);
    }
    return status == TAPML_OK ? TAPML_OK : note_end(far, status);
}

tapml_status
far_side_ask(struct far_side *far, struct wire_reader *out_reader, int *out_is_answered)
{
    struct wire_frame frame = {0};
    *out_is_answered = 0;
    wire_end(&far->log);
    TAPML_TRY(far_side_send(far, -1));
    TAPML_TRY(receive(far, &frame));
    wire_reader_init(out_reader, &frame);
    const tapml_status status = (tapml_status)wire_take_i64(out_reader);
    const char *text = wire_take_text(out_reader);
    if (out_reader->is_broken || frame.verb != MESSAGE_REPLY || frame.number != far->number) {
        channel_stop(far->given.channel);
        return note_end(far, status_fail(TAPML_INTERNAL, "sent a malformed reply"));
    }
    *out_is_answered = 1;
    if (!far->is_busy) {
        far->log.size = far->sent = 0;
    }
    return status == TAPML_OK
               ? TAPML_OK
               : status_fail(status, "%s", text && text[0] ? text : "the worker gives no reason");
}

tapml_status far_side_announce_regions(struct far_side *far)
{
    while (far->regions_sent < shared_count(far->shared)) {
        const uint32_t region = far->regions_sent;
        TAPML_TRY(far_side_send(far, -1));
        far_side_begin(far, MESSAGE_REGION);
        wire_put_u64(&far->log, shared_bytes(far->shared, region));
        wire_end(&far->log);
        TAPML_TRY(far_side_send(far, shared_descriptor(far->shared, region)));
        far->regions_sent++;
    }
    return TAPML_OK;
}

tapml_status far_side_announce_share(struct far_side *far, struct share *share)
{
    if (share->is_sent) {
        return TAPML_OK;
    }
    TAPML_TRY(far_side_send(far, -1));
    far_side_begin(far, MESSAGE_SHARE);
    wire_put_u32(&far->log, (uint32_t)(share - far->shares.shares));
    wire_put_u64(&far->log, share->given.bytes);
    wire_end(&far->log);
    TAPML_TRY(far_side_send(far, share->given.descriptor));
    share->is_sent = 1;
    return TAPML_OK;
}

static tapml_status take_opened(struct far_side *far, struct wire_reader *reader)
{
    struct backend_info info = {0};
    int is_new = 0;
    TAPML_TRY(message_take_info(reader, far->given.arena, &info));
    TAPML_TRY(op_list_take(&far->ops, reader, far->given.arena, far->given.catalogue,
                           info.component, &is_new));
    if (!is_new) {
        return TAPML_OK;
    }
    far->is_wrapping = info.is_host_memory && !far->given.channel->is_far;
    far->info = info;
    far->info.is_host_memory = 0; // Of this process, it is not.
    far->info.borrowing = far->is_wrapping ? BACKEND_BORROWS_BUFFERS : BACKEND_BORROWS_SOURCES;
    return wire_is_done(reader) ? TAPML_OK
                                : status_fail(TAPML_INVALID, "its list of ops is garbled");
}

// What another machine says of its worker has no subject.
static tapml_status start_channel(const struct far_side *far)
{
    const tapml_status status = channel_start(far->given.channel);
    char how[512];

    if (status != TAPML_UNAVAILABLE || !far->given.channel->is_far) {
        return status;
    }
    (void)snprintf(how, sizeof(how), "%s", status_message());
    return status_fail(status, "%s %s", far->given.name, how);
}

static tapml_status start(struct far_side *far)
{
    struct wire_reader reader;
    int is_answered = 0;
    forget_work(far);
    atomic_store((_Atomic(uint64_t) *)(void *)far->control.memory, 0);
    TAPML_TRY(start_channel(far));
    far->is_up = 1;
    TAPML_TRY(far_side_announce_regions(far));
    far_side_begin(far, MESSAGE_OPEN);
    message_put_settings(&far->log, far->given.settings, far->given.setting_count);
    TAPML_TRY(far_side_ask(far, &reader, &is_answered));
    return take_opened(far, &reader);
}

struct share *far_side_share(const struct far_side *far, const struct shared_span *span)
{
    return &far->shares.shares[span->region & ~MESSAGE_IS_IMPORT];
}

tapml_status far_side_put_buffer(struct far_side *far, const struct buffer *buffer)
{
    struct wire_reader reader;
    int is_answered = 0;
    TAPML_TRY(buffer->is_shared ? far_side_announce_share(far, far_side_share(far, &buffer->span))
                                : far_side_announce_regions(far));
    far_side_begin(far, buffer->span.memory ? MESSAGE_BUFFER_WRAP : MESSAGE_BUFFER_NEW);
    wire_put_u32(&far->log, buffer->number);
    wire_put_u64(&far->log, buffer->bytes);
    if (!buffer->span.memory) {
        return far_side_ask(far, &reader, &is_answered);
    }
    wire_put_u32(&far->log, buffer->span.region);
    wire_put_u64(&far->log, buffer->span.offset);
    return far_side_end(far);
}

// -- Ops that it was told of -------------------------------------------------------------------

// Tells it of an op. `*out_has` is whether it has it; the reader is behind that.
static tapml_status
define(struct far_side *far, const tapml_op *op, struct wire_reader *out_reader, int *out_has)
{
    int is_answered = 0;
    far_side_begin(far, MESSAGE_DEFINE);
    message_put_op(&far->log, op, "", &arithmetic_f32);
    TAPML_TRY(far_side_ask(far, out_reader, &is_answered));
    *out_has = wire_take_u32(out_reader) != 0;
    return TAPML_OK;
}

// Another life of it has the same ops, in the same order.
static tapml_status define_again(struct far_side *far)
{
    for (uint32_t i = far->ops.listed; i < far->ops.count; i++) {
        struct wire_reader reader;
        int has = 0;
        TAPML_TRY(define(far, far->ops.items[i]->op, &reader, &has));
        if (!has) {
            return status_fail(TAPML_DEVICE_LOST, "%s: it has other ops than before",
                               far->info.component);
        }
    }
    return TAPML_OK;
}

static tapml_status ask_for_op(struct far_side *far, const tapml_op *op)
{
    const struct compiled_op *schema = catalogue_find(far->given.catalogue, op->name, op->version);
    struct arithmetic arithmetic = {0};
    const tapml_op *answered = NULL;
    const char *identity = NULL;
    struct wire_reader reader;
    int has = 0;
    TAPML_TRY(far->is_busy ? far_side_settle(far) : TAPML_OK);
    TAPML_TRY(far_side_ready(far));
    TAPML_TRY(define(far, op, &reader, &has));
    if (!has || !schema) {
        return op_list_note_lacking(&far->ops, op);
    }
    TAPML_TRY(message_take_op(&reader, far->given.arena, &answered, &identity, &arithmetic));
    return op_list_define(&far->ops, schema, identity, &arithmetic);
}

int far_side_has_op(struct far_side *far, const tapml_op *op)
{
    if (op_list_find(&far->ops, op) < far->ops.count) {
        return 1;
    }
    if (!op->expands || op->expands[0] == '\0' || op_list_is_lacking(&far->ops, op)) {
        return 0;
    }
    return ask_for_op(far, op) == TAPML_OK && op_list_find(&far->ops, op) < far->ops.count;
}

static tapml_status start_again(struct far_side *far)
{
    TAPML_TRY(start(far));
    TAPML_TRY(define_again(far));
    for (const struct buffer *at = far->buffers.first; at; at = at->next) {
        TAPML_TRY(at->is_made ? far_side_put_buffer(far, at) : TAPML_OK);
    }
    return TAPML_OK;
}

tapml_status far_side_ready(struct far_side *far)
{
    if (far->loss[0] != '\0') { // Each later call reports why.
        return status_fail(TAPML_DEVICE_LOST, "%s", far->loss);
    }
    if (far->is_lost) {
        return status_fail(TAPML_DEVICE_LOST, "%s: the worker cannot be started again",
                           far->info.component);
    }
    if (far->is_up) {
        return TAPML_OK;
    }
    for (int i = 0; i < STARTS_MAX; i++) { // No call has failed by it: it is tried again at once.
        if (start_again(far) == TAPML_OK) {
            return TAPML_OK;
        }
        if (far->is_up) {
            channel_stop(far->given.channel);
            far->is_up = 0;
        }
    }
    far->is_lost = 1;
    return status_explain(TAPML_DEVICE_LOST, "starting the worker again");
}

// After an error: the far side has nothing queued any more.
static void end_in_error(struct far_side *far, tapml_status status)
{
    forget_work(far);
    if (status == TAPML_DEVICE_LOST && !far->is_lost) {
        far->is_lost = 1;
        (void)snprintf(far->loss, sizeof(far->loss), "%s", status_message());
    }
}

// What measures asks for the launches after each wait: without a question of its own.
static void note_launches(struct far_side *far, struct wire_reader *reader)
{
    const uint64_t launches = wire_take_u64(reader);
    if (wire_is_done(reader)) {
        far->counts[0] = launches;
        far->has_launches = 1;
    }
}

tapml_status far_side_settle(struct far_side *far)
{
    struct wire_reader reader;
    int is_answered = 0;
    far_side_begin(far, MESSAGE_WAIT);
    const tapml_status status = far_side_ask(far, &reader, &is_answered);
    if (status == TAPML_OK) {
        note_launches(far, &reader);
        staging_end_reads(&far->staging, UINT64_MAX);
        forget_work(far);
    } else if (is_answered) {
        end_in_error(far, status);
    }
    return status;
}

tapml_status far_side_wait_for(struct far_side *far, uint64_t point)
{
    struct wire_reader reader;
    int is_answered = 0;
    ASSERT(far->is_busy && point > far->reached && point <= far->signalled);
    far_side_begin(far, MESSAGE_WAIT_FOR);
    wire_put_u64(&far->log, point);
    const tapml_status status = far_side_ask(far, &reader, &is_answered);
    if (status == TAPML_OK) {
        staging_end_reads(&far->staging, point);
        far->reached = point;
    } else if (is_answered) {
        end_in_error(far, status);
    }
    return status;
}

tapml_status far_side_make_room(struct far_side *far)
{
    TAPML_TRY(far_side_ready(far));
    if (far->log.size <= LOG_BYTES_MAX || !far->is_busy) {
        return TAPML_OK;
    }
    TAPML_TRY(far_side_settle(far));
    return far_side_ready(far);
}

tapml_status far_side_open(struct far_side *out_far, const struct far_side_options *options)
{
    struct far_side *far = out_far;
    *far = (struct far_side){.given = *options, .log = MESSAGE_WRITER};
    crashes_init(&far->crashes);
    TAPML_TRY(shared_create(SHARED_WRITABLE, &far->shared));
    TAPML_TRY(shared_take(far->shared, sizeof(uint64_t), &far->control));
    const tapml_status status = start(far);
    // One end while it opens may have another cause than the opening.
    return status == TAPML_INTERNAL && far->crash_count == 1 ? start(far) : status;
}

void far_side_release(struct far_side *far)
{
    if (far->is_up) {
        far_side_begin(far, MESSAGE_CLOSE);
        wire_end(&far->log);
        (void)far_side_send(far, -1); // If it is not received, the channel ends the far side.
    }
    channel_release(far->given.channel);
    buffer_list_release(&far->buffers);
    wire_writer_release(&far->log);
    crashes_release(&far->crashes);
    share_list_release(&far->shares);
    shared_destroy(far->shared);
    staging_release(&far->staging);
}
