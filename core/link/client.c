// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/client.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/shared.h"
#include "link/backlog.h"
#include "link/buffer.h"
#include "link/crashes.h"
#include "link/loan.h"
#include "link/op_list.h"
#include "link/staging.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    KNOWN_SLOTS = 256,
    SEND_BYTES = 1 << 14,       // Queued messages that are worth a system call.
    LOG_BYTES_MAX = 1 << 16,    // Then the near side waits, so that neither log nor
    STAGED_BYTES_MAX = 1 << 26, // staging grows for ever.
    LEFT_BYTES_MAX = 1 << 18,   // Written ones, for which a wait alone does not wait.
    LENT_BYTES_MIN = 1 << 12,   // Fewer are copied, so that nobody waits until they are read.
    STARTS_MAX = 2,             // Failures to start again, one after the other, before it is lost.
    PLACE_BYTES = 256,
    COUNTS_MAX = 64
};

// What was answered to a question, by the hash of its message.
struct known_answer {
    int is_known;
    struct hash key;
    tapml_status failure; // How the far side ended over it, each time; or TAPML_OK.
    char how[512];        // In words.
    tapml_support answer;
};

struct client {
    struct backend backend; // First.
    struct client_options given;
    struct backend_info info;
    int is_wrapping; // The far device is one of host memory.
    struct shared *shared;
    struct shared_span control; // Its first word is the far side's progress.
    uint32_t regions_sent;
    struct loan_list loans;
    struct op_list ops;
    struct known_answer known[KNOWN_SLOTS];

    struct wire_writer log; // Messages since the last time that all was done.
    size_t sent;            // Bytes of them.
    uint32_t number;        // Of the last message.
    int is_busy;            // Work was queued since the last wait,
    int is_pending;         // and some of it leaves results: calls, reads.
    int is_unmarked;        // Work was queued since the last point.
    uint64_t signalled;     // The last point,
    uint64_t reached;       // and the last that is known to be reached.

    struct buffer_list buffers;

    struct staging staging;

    int is_up;
    int is_lost;
    char loss[512]; // What the far side said when its device was; or "".
    uint32_t falls;
    struct crashes crashes;

    int is_counted;                         // No call since the counts were asked for.
    uint64_t counts[COUNTS_MAX + 1];        // Launches first.
    uint64_t counts_before[COUNTS_MAX + 1]; // Of lives that are over.
};

static struct client *own(const struct backend *backend)
{
    return (struct client *)(uintptr_t)backend;
}

// Nothing is queued any more, by whatever way.
static void forget_work(struct client *client)
{
    ASSERT(client->reached <= client->signalled);
    staging_clear(&client->staging, client->shared);
    client->log.size = 0;
    client->sent = 0;
    client->is_busy = 0;
    client->is_pending = 0;
    client->is_unmarked = 0;
    client->reached = client->signalled;
}

static struct backlog backlog_of(const struct client *client)
{
    return (struct backlog){client->log.data, client->log.size, client->ops.items,
                            client->ops.count};
}

// The far side has ended, with the message at hand: makes the verdict of it.
static tapml_status fall(struct client *client, tapml_status status)
{
    char how[512], place[PLACE_BYTES];
    const struct backlog backlog = backlog_of(client);
    const struct backlog_culprit culprit = backlog_find_culprit(
        &backlog, (uint32_t)atomic_load_explicit(
                      (_Atomic(uint64_t) *)(void *)client->control.memory, memory_order_relaxed));
    (void)snprintf(how, sizeof(how), "%s", status_message());
    backlog_print(&culprit, place, sizeof(place));
    crashes_note(&client->crashes, &culprit);
    client->is_up = 0;
    client->falls++;
    client->regions_sent = 0;
    loan_forget_sent(&client->loans);
    for (size_t i = 0; i <= COUNTS_MAX; i++) {
        client->counts_before[i] += client->counts[i];
        client->counts[i] = 0;
    }
    forget_work(client);
    const char *words = channel_last_words(client->given.channel);
    return status_fail(status == TAPML_DEADLINE ? TAPML_DEADLINE : TAPML_INTERNAL,
                       "%s: the worker %s%s%s%s",
                       client->info.component ? client->info.component : "opening", how, place,
                       words[0] ? "; it wrote: " : "", words);
}

static void begin(struct client *client, enum message_verb verb)
{
    wire_begin(&client->log, (uint16_t)verb, ++client->number);
}

static tapml_status send_log(struct client *client, int descriptor)
{
    struct channel *channel = client->given.channel;
    ASSERT(client->sent <= client->log.size);
    if (client->log.is_failed) {
        client->is_lost = 1;
        return status_no_memory();
    }
    if (client->sent == client->log.size) {
        return TAPML_OK;
    }
    const tapml_status status = channel_send(channel, client->log.data + client->sent,
                                             client->log.size - client->sent, descriptor);
    client->sent = client->log.size;
    return status == TAPML_OK ? TAPML_OK : fall(client, status);
}

static void note_work(struct client *client)
{
    client->is_busy = 1;
    client->is_unmarked = 1;
}

// Ends a message that is not answered.
static tapml_status end(struct client *client)
{
    wire_end(&client->log);
    return client->log.is_failed || client->log.size - client->sent >= SEND_BYTES
               ? send_log(client, -1)
               : TAPML_OK;
}

static tapml_status receive(struct client *client, struct wire_frame *out_frame)
{
    struct channel *channel = client->given.channel;
    const uint64_t floor_ns = client->given.deadline_ns;
    uint64_t all_ns = floor_ns > 0 ? floor_ns : UINT64_MAX;
    tapml_status status = channel_receive(channel, all_ns, out_frame);
    if (status == TAPML_DEADLINE) {
        const struct backlog backlog = backlog_of(client);
        const uint64_t more_ns = backlog_allowance_ns(&backlog);
        status = more_ns > 0 ? channel_receive(channel, more_ns, out_frame) : status;
        all_ns += more_ns;
    }
    if (status == TAPML_DEADLINE) {
        channel_stop(channel);
        (void)status_fail(status, "did not answer within %.3g s and was ended",
                          (double)all_ns / 1e9);
    }
    return status == TAPML_OK ? TAPML_OK : fall(client, status);
}

// Sends the open message and takes its answer apart. `out_is_answered` tells the far side's own
// failure from its end.
static tapml_status ask(struct client *client, struct wire_reader *out_reader, int *out_is_answered)
{
    struct wire_frame frame = {0};
    *out_is_answered = 0;
    wire_end(&client->log);
    TAPML_TRY(send_log(client, -1));
    TAPML_TRY(receive(client, &frame));
    wire_reader_init(out_reader, &frame);
    const tapml_status status = (tapml_status)wire_take_i64(out_reader);
    const char *text = wire_take_text(out_reader);
    if (out_reader->is_broken || frame.verb != MESSAGE_REPLY || frame.number != client->number) {
        channel_stop(client->given.channel);
        return fall(client, status_fail(TAPML_INTERNAL, "sent a malformed reply"));
    }
    *out_is_answered = 1;
    if (!client->is_busy) {
        client->log.size = client->sent = 0;
    }
    return status == TAPML_OK
               ? TAPML_OK
               : status_fail(status, "%s", text && text[0] ? text : "the worker gives no reason");
}

// -- Starting, and starting again --------------------------------------------------------------

static tapml_status announce_regions(struct client *client)
{
    while (client->regions_sent < shared_count(client->shared)) {
        const uint32_t region = client->regions_sent;
        TAPML_TRY(send_log(client, -1));
        begin(client, MESSAGE_REGION);
        wire_put_u64(&client->log, shared_bytes(client->shared, region));
        wire_end(&client->log);
        TAPML_TRY(send_log(client, shared_descriptor(client->shared, region)));
        client->regions_sent++;
    }
    return TAPML_OK;
}

static tapml_status announce_loan(struct client *client, struct loan *loan)
{
    if (loan->is_sent) {
        return TAPML_OK;
    }
    TAPML_TRY(send_log(client, -1));
    begin(client, MESSAGE_LEND);
    wire_put_u32(&client->log, (uint32_t)(loan - client->loans.loans));
    wire_put_u64(&client->log, loan->given.bytes);
    wire_end(&client->log);
    TAPML_TRY(send_log(client, loan->given.descriptor));
    loan->is_sent = 1;
    return TAPML_OK;
}

static tapml_status take_opened(struct client *client, struct wire_reader *reader)
{
    struct backend_info info = {0};
    int is_new = 0;
    TAPML_TRY(message_take_info(reader, client->given.arena, &info));
    TAPML_TRY(op_list_take(&client->ops, reader, client->given.arena, client->given.catalogue,
                           info.component, &is_new));
    if (!is_new) {
        return TAPML_OK;
    }
    client->is_wrapping = info.is_host_memory;
    client->info = info;
    client->info.is_host_memory = 0; // Of this process, it is not.
    client->info.borrowing =
        info.is_host_memory ? BACKEND_BORROWS_BUFFERS : BACKEND_BORROWS_SOURCES;
    return wire_is_done(reader) ? TAPML_OK
                                : status_fail(TAPML_INVALID, "its list of ops is garbled");
}

static tapml_status open_far_side(struct client *client)
{
    struct channel *channel = client->given.channel;
    struct wire_reader reader;
    int is_answered = 0;
    forget_work(client);
    atomic_store((_Atomic(uint64_t) *)(void *)client->control.memory, 0);
    TAPML_TRY(channel_start(channel));
    client->is_up = 1;
    TAPML_TRY(announce_regions(client));
    begin(client, MESSAGE_OPEN);
    message_put_settings(&client->log, client->given.settings, client->given.setting_count);
    TAPML_TRY(ask(client, &reader, &is_answered));
    return take_opened(client, &reader);
}

static struct loan *loan_of(const struct client *client, const struct shared_span *span)
{
    return &client->loans.loans[span->region & ~MESSAGE_IS_LOAN];
}

static tapml_status put_buffer(struct client *client, const struct buffer *buffer)
{
    struct wire_reader reader;
    int is_answered = 0;
    TAPML_TRY(buffer->is_lent ? announce_loan(client, loan_of(client, &buffer->span))
                              : announce_regions(client));
    begin(client, buffer->span.memory ? MESSAGE_BUFFER_WRAP : MESSAGE_BUFFER_NEW);
    wire_put_u32(&client->log, buffer->number);
    wire_put_u64(&client->log, buffer->bytes);
    if (!buffer->span.memory) {
        return ask(client, &reader, &is_answered);
    }
    wire_put_u32(&client->log, buffer->span.region);
    wire_put_u64(&client->log, buffer->span.offset);
    return end(client);
}

static tapml_status start_again(struct client *client)
{
    TAPML_TRY(open_far_side(client));
    for (const struct buffer *at = client->buffers.first; at; at = at->next) {
        TAPML_TRY(at->is_made ? put_buffer(client, at) : TAPML_OK);
    }
    return TAPML_OK;
}

// Before every message: the far side is there.
static tapml_status ready(struct client *client)
{
    if (client->loss[0] != '\0') { // Whoever asks next wants to know why.
        return status_fail(TAPML_DEVICE_LOST, "%s", client->loss);
    }
    if (client->is_lost) {
        return status_fail(TAPML_DEVICE_LOST, "%s: the worker cannot be started again",
                           client->info.component);
    }
    if (client->is_up) {
        return TAPML_OK;
    }
    for (int i = 0; i < STARTS_MAX; i++) { // Nobody's call failed: it is tried again at once.
        if (start_again(client) == TAPML_OK) {
            return TAPML_OK;
        }
        if (client->is_up) {
            channel_stop(client->given.channel);
            client->is_up = 0;
        }
    }
    client->is_lost = 1;
    return status_explain(TAPML_DEVICE_LOST, "starting the worker again");
}

// -- Waiting -----------------------------------------------------------------------------------

// After an error: the far side has nothing queued any more.
static void end_in_error(struct client *client, tapml_status status)
{
    forget_work(client);
    if (status == TAPML_DEVICE_LOST && !client->is_lost) {
        client->is_lost = 1;
        (void)snprintf(client->loss, sizeof(client->loss), "%s", status_message());
    }
}

// Waits until all that is queued is done.
static tapml_status settle(struct client *client)
{
    struct wire_reader reader;
    int is_answered = 0;
    begin(client, MESSAGE_WAIT);
    const tapml_status status = ask(client, &reader, &is_answered);
    if (status == TAPML_OK) {
        staging_end_reads(&client->staging, UINT64_MAX);
        forget_work(client);
    } else if (is_answered) {
        end_in_error(client, status);
    }
    return status;
}

// Before a message that is work. What is under way always fits between the two sides: nobody waits
// while he sends, where there is no deadline.
static tapml_status make_room(struct client *client)
{
    TAPML_TRY(ready(client));
    if (client->log.size <= LOG_BYTES_MAX || !client->is_busy) {
        return TAPML_OK;
    }
    TAPML_TRY(settle(client));
    return ready(client);
}

static tapml_status client_flush(struct backend *backend)
{
    struct client *client = own(backend);
    if (!client->is_up || !client->is_busy) {
        return TAPML_OK;
    }
    begin(client, MESSAGE_FLUSH);
    wire_end(&client->log);
    return send_log(client, -1);
}

// Nobody has to wait for a few bytes on their way to a device: they were copied, go with what is
// sent next, and what is queued behind them comes behind them. The next wait tells an error of
// theirs.
static int is_worth_a_wait(const struct client *client)
{
    return client->is_pending || client->is_wrapping || client->log.size > SEND_BYTES ||
           client->staging.bytes > LEFT_BYTES_MAX;
}

static tapml_status client_wait(struct backend *backend)
{
    struct client *client = own(backend);
    if (!client->is_busy) {
        return client->is_lost ? ready(client) : TAPML_OK;
    }
    return is_worth_a_wait(client) ? settle(client) : TAPML_OK;
}

static tapml_status client_signal(struct backend *backend, struct backend_point *out_point)
{
    struct client *client = own(backend);
    ASSERT(client->is_busy || !client->is_unmarked);
    if (client->is_unmarked) {
        begin(client, MESSAGE_SIGNAL);
        wire_put_u64(&client->log, client->signalled + 1);
        TAPML_TRY(end(client));
        client->signalled++;
        client->is_unmarked = 0;
    }
    *out_point = (struct backend_point){backend, client->signalled};
    return TAPML_OK;
}

static tapml_status client_wait_for(struct backend *backend, struct backend_point point)
{
    struct client *client = own(backend);
    struct wire_reader reader;
    int is_answered = 0;
    ASSERT(point.owner == backend && point.value <= client->signalled);
    if (point.value <= client->reached) {
        return client->is_lost ? ready(client) : TAPML_OK;
    }
    ASSERT(client->is_busy);
    if (point.value == client->signalled && !client->is_unmarked) {
        return client_wait(backend); // Nothing is queued behind it.
    }
    begin(client, MESSAGE_WAIT_FOR);
    wire_put_u64(&client->log, point.value);
    const tapml_status status = ask(client, &reader, &is_answered);
    if (status == TAPML_OK) {
        staging_end_reads(&client->staging, point.value);
        client->reached = point.value;
    } else if (is_answered) {
        end_in_error(client, status);
    }
    return status;
}

// -- Ops ---------------------------------------------------------------------------------------

static int client_has_op(struct backend *backend, const tapml_op *op)
{
    return op_list_find(&own(backend)->ops, op) < own(backend)->ops.count;
}

static const char *client_identity(struct backend *backend, const tapml_op *op)
{
    return op_list_identity(&own(backend)->ops, op);
}

static tapml_status put_args(struct client *client,
                             const tapml_op *op,
                             const tapml_value *args,
                             message_number_fn number)
{
    const tapml_status status = message_put_args(&client->log, op, args, number);
    if (status != TAPML_OK) {
        client->log.size = client->log.begin; // It is as if it had not been begun.
    }
    return status;
}

// Whether the device can do a call.
struct question {
    uint32_t index; // Of the op.
    const tapml_op *op;
    const tapml_value *args;
};

static tapml_status put_question(struct client *client, const struct question *question)
{
    begin(client, MESSAGE_SUPPORTS);
    wire_put_u32(&client->log, question->index);
    TAPML_TRY(put_args(client, question->op, question->args, NULL));
    return client->log.is_failed ? status_no_memory() : TAPML_OK;
}

// What a device supports does not change: layers of the same shape are asked for once.
static tapml_status
hash_question(struct client *client, const struct question *question, struct hash *out_key)
{
    const size_t before = client->log.size;
    const size_t payload = before + WIRE_HEADER_BYTES;
    TAPML_TRY(put_question(client, question));
    *out_key = hash_bytes(client->log.data + payload, client->log.size - payload);
    client->log.size = before; // As if it had not been begun.
    client->number--;
    return TAPML_OK;
}

// Nothing is lost with a far side that ends over a question alone, so that it is asked again. What
// has ended it each time is known by then, and not asked any more.
static tapml_status
ask_question(struct client *client, const struct question *question, struct known_answer *out)
{
    struct wire_reader reader;
    int is_answered = 0;
    tapml_status status = TAPML_OK;
    TAPML_TRY(client->is_busy ? settle(client) : TAPML_OK);
    for (int i = 0; i < CRASHES_MAX && !is_answered; i++) {
        TAPML_TRY(ready(client));
        TAPML_TRY(put_question(client, question));
        status = ask(client, &reader, &is_answered);
        if (status_ends_all(status)) {
            return status;
        }
    }
    if (is_answered && status != TAPML_OK) {
        return status;
    }
    out->answer = (tapml_support){.hdr = TAPML_HDR(tapml_support)};
    out->failure = status;
    if (status != TAPML_OK) {
        (void)snprintf(out->how, sizeof(out->how), "asked for %s: %s", question->op->name,
                       status_message()); // Cut where it is too long.
        return TAPML_OK;
    }
    out->answer.grade = wire_take_u32(&reader);
    const char *reason = wire_take_text(&reader);
    (void)snprintf(out->answer.reason, sizeof(out->answer.reason), "%s", reason ? reason : "");
    return TAPML_OK;
}

static tapml_status client_supports(struct backend *backend,
                                    const struct compiled_op *schema,
                                    const tapml_value *args,
                                    tapml_support *answer)
{
    struct client *client = own(backend);
    const tapml_op *op = schema->op;
    const uint32_t index = op_list_find(&client->ops, op);
    *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support)};
    if (index == client->ops.count) {
        (void)snprintf(answer->reason, sizeof(answer->reason), "it has no op '%s'", op->name);
        return TAPML_OK;
    }
    const struct question question = {index, op, args};
    struct hash key;
    TAPML_TRY(hash_question(client, &question, &key));
    struct known_answer *known = &client->known[key.low % KNOWN_SLOTS];
    if (!known->is_known || !hash_equal(known->key, key)) {
        known->is_known = 0;
        TAPML_TRY(ask_question(client, &question, known));
        known->is_known = 1;
        known->key = key;
    }
    *answer = known->answer;
    return known->failure == TAPML_OK ? TAPML_OK : status_fail(known->failure, "%s", known->how);
}

static tapml_status client_call(struct backend *backend, const struct backend_call *call)
{
    struct client *client = own(backend);
    const uint32_t index = op_list_find(&client->ops, call->op);
    if (index == client->ops.count) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: the device '%s' has no op '%s'",
                           client->info.component, client->info.device, call->op->name);
    }
    TAPML_TRY(crashes_check(&client->crashes, client->info.component, call->instance));
    TAPML_TRY(make_room(client));
    begin(client, MESSAGE_CALL);
    wire_put_u32(&client->log, index);
    wire_put_text(&client->log, call->instance);
    TAPML_TRY(put_args(client, call->op, call->args, buffer_number_of));
    note_work(client);
    client->is_pending = 1;
    client->is_counted = 0;
    return end(client);
}

// -- Counts ------------------------------------------------------------------------------------

static void count(struct client *client)
{
    struct wire_reader reader;
    int is_answered = 0;
    if (!client->is_up || client->is_counted) {
        return;
    }
    begin(client, MESSAGE_COUNT);
    wire_put_u32(&client->log, client->given.counter_count);
    if (ask(client, &reader, &is_answered) != TAPML_OK) {
        return; // What is known stays; the next call tells of the end.
    }
    client->counts[0] = wire_take_u64(&reader);
    const uint32_t sent = wire_take_u32(&reader);
    for (uint32_t i = 0; i < sent && i < COUNTS_MAX; i++) {
        client->counts[i + 1] = wire_take_u64(&reader);
    }
    client->is_counted = 1;
}

static uint64_t client_launches(struct backend *backend)
{
    struct client *client = own(backend);
    count(client);
    return client->counts_before[0] + client->counts[0];
}

uint64_t client_count(struct backend *backend, uint32_t index)
{
    struct client *client = own(backend);
    count(client);
    return index < COUNTS_MAX ? client->counts_before[index + 1] + client->counts[index + 1] : 0;
}

uint32_t client_falls(const struct backend *backend)
{
    return own(backend)->falls;
}

static uint64_t client_generation(const struct backend *backend)
{
    const struct client *client = own(backend);
    return client->is_wrapping ? 0 : client->falls;
}

// -- Memory ------------------------------------------------------------------------------------

// Where nothing was queued, nothing is lost with a far side that ends: it is asked once more.
static tapml_status put_new_buffer(struct client *client, struct buffer *buffer)
{
    const int was_busy = client->is_busy;
    tapml_status status = put_buffer(client, buffer);
    if (!client->is_up && !was_busy) {
        TAPML_TRY(ready(client));
        status = put_buffer(client, buffer);
    }
    buffer->is_made = status == TAPML_OK;
    return status;
}

static void drop_buffer(struct client *client, struct buffer *buffer)
{
    if (buffer->span.memory && !buffer->is_lent) {
        shared_give_back(client->shared, &buffer->span);
    }
    buffer_remove(&client->buffers, buffer);
}

// A buffer like `wanted`.
static tapml_status
make_buffer(struct client *client, const struct buffer *wanted, tapml_object **out_buffer)
{
    const uint64_t size = wanted->bytes;
    struct buffer *buffer = NULL;
    TAPML_TRY(ready(client));
    if (client->info.buffer_bytes_max > 0 && size > client->info.buffer_bytes_max) {
        return status_fail(TAPML_NO_MEMORY, "%s: a buffer of %llu bytes, at most %llu are possible",
                           client->info.component, (unsigned long long)size,
                           (unsigned long long)client->info.buffer_bytes_max);
    }
    TAPML_TRY(buffer_add(&client->buffers, wanted, &buffer));
    tapml_status status = TAPML_OK;
    if (client->is_wrapping && !buffer->is_lent) {
        status = shared_take(client->shared, size, &buffer->span);
    }
    if (status == TAPML_OK) {
        status = put_new_buffer(client, buffer);
    }
    if (status != TAPML_OK) {
        drop_buffer(client, buffer);
        return status;
    }
    *out_buffer = &buffer->object;
    return TAPML_OK;
}

static tapml_status
client_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    return make_buffer(own(backend), &(struct buffer){.bytes = size}, out_buffer);
}

// Where memory lies in a loan. Returns 0 where it lies in none.
static int find_lent(const struct client *client,
                     const void *memory,
                     uint64_t bytes,
                     struct shared_span *out_span)
{
    const struct loan *loan = loan_find(&client->loans, memory, bytes);
    if (!loan) {
        return 0;
    }
    *out_span = (struct shared_span){
        .region = (uint32_t)(loan - client->loans.loans) | MESSAGE_IS_LOAN,
        .offset = (uintptr_t)memory - (uintptr_t)loan->given.memory,
        .bytes = bytes,
        .memory = (unsigned char *)(uintptr_t)memory, // Only read: the façade sees to it.
    };
    return 1;
}

static tapml_status client_buffer_wrap(struct backend *backend,
                                       void *memory,
                                       uint64_t size,
                                       uint32_t access,
                                       tapml_object **out_buffer)
{
    struct client *client = own(backend);
    struct buffer wanted = {.bytes = size, .is_lent = 1};
    if (!client->is_wrapping || access != TAPML_ACCESS_READ ||
        !find_lent(client, memory, size, &wanted.span)) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "%s: a worker cannot use memory of the host that it was not lent",
                           client->info.component);
    }
    return make_buffer(client, &wanted, out_buffer);
}

static tapml_status client_lend(struct backend *backend, const struct backend_loan *loan)
{
    return loan_add(&own(backend)->loans, loan);
}

static void client_take_back(struct backend *backend, const void *memory)
{
    struct client *client = own(backend);
    struct loan *loan = loan_remove(&client->loans, memory);
    if (loan && loan->is_sent && client->is_up) {
        begin(client, MESSAGE_TAKE_BACK);
        wire_put_u32(&client->log, (uint32_t)(loan - client->loans.loans));
        (void)end(client); // Where it has ended, its mapping is gone too.
    }
    if (loan) {
        *loan = (struct loan){0};
    }
}

static void client_buffer_free(struct backend *backend, tapml_object *object)
{
    struct client *client = own(backend);
    struct buffer *buffer = buffer_of(object);
    if (client->is_up) {
        begin(client, MESSAGE_BUFFER_FREE);
        wire_put_u32(&client->log, buffer->number);
        (void)end(client); // Where it has ended, the buffer is gone too.
    }
    drop_buffer(client, buffer);
}

// Whether a transfer needs no message: both sides see the memory, and nobody works with it.
static int is_direct(const struct client *client, const struct buffer *buffer)
{
    return buffer->span.memory && !client->is_busy;
}

static tapml_status stage(struct client *client, uint64_t size, struct shared_span *out_span)
{
    if (client->staging.bytes + size > STAGED_BYTES_MAX && client->is_busy) {
        TAPML_TRY(settle(client));
        TAPML_TRY(ready(client));
    }
    TAPML_TRY(staging_take(&client->staging, client->shared, size, out_span));
    return announce_regions(client);
}

static tapml_status put_transfer(struct client *client,
                                 enum message_verb verb,
                                 const struct buffer *buffer,
                                 uint64_t offset,
                                 const struct shared_span *span)
{
    begin(client, verb);
    wire_put_u32(&client->log, buffer->number);
    wire_put_u64(&client->log, offset);
    wire_put_u64(&client->log, span->bytes);
    wire_put_u32(&client->log, span->region);
    wire_put_u64(&client->log, span->offset);
    note_work(client);
    return end(client);
}

static tapml_status client_write(struct backend *backend,
                                 tapml_object *object,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    struct client *client = own(backend);
    struct buffer *buffer = buffer_of(object);
    struct shared_span span = {0};
    TAPML_TRY(make_room(client));
    if (size == 0) {
        return TAPML_OK;
    }
    ASSERT(offset <= buffer->bytes && size <= buffer->bytes - offset); // The façade has checked.
    if (is_direct(client, buffer)) {
        memcpy(buffer->span.memory + offset, source, size);
        return TAPML_OK;
    }
    if (size >= LENT_BYTES_MIN && find_lent(client, source, size, &span)) {
        TAPML_TRY(announce_loan(client, loan_of(client, &span)));
        client->is_pending = 1; // Until it is read, the source stays as it is.
        return put_transfer(client, MESSAGE_WRITE, buffer, offset, &span);
    }
    TAPML_TRY(stage(client, size, &span));
    ASSERT(span.memory);
    memcpy(span.memory, source, size);
    return put_transfer(client, MESSAGE_WRITE, buffer, offset, &span);
}

static tapml_status client_read(
    struct backend *backend, tapml_object *object, uint64_t offset, void *target, uint64_t size)
{
    struct client *client = own(backend);
    struct buffer *buffer = buffer_of(object);
    struct shared_span span = {0};
    TAPML_TRY(make_room(client));
    if (size == 0) {
        return TAPML_OK;
    }
    ASSERT(offset <= buffer->bytes && size <= buffer->bytes - offset);
    if (is_direct(client, buffer)) {
        memcpy(target, buffer->span.memory + offset, size);
        return TAPML_OK;
    }
    TAPML_TRY(stage(client, size, &span));
    TAPML_TRY(staging_add_read(
        &client->staging, &(struct staged_read){client->signalled + 1, target, span.memory, size}));
    client->is_pending = 1;
    return put_transfer(client, MESSAGE_READ, buffer, offset, &span);
}

static tapml_status client_fill(
    struct backend *backend, tapml_object *object, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct client *client = own(backend);
    struct buffer *buffer = buffer_of(object);
    TAPML_TRY(make_room(client));
    ASSERT(offset <= buffer->bytes && size <= buffer->bytes - offset);
    if (is_direct(client, buffer)) {
        for (uint64_t at = 0; at < size; at += sizeof(pattern)) {
            memcpy(buffer->span.memory + offset + at, &pattern, sizeof(pattern));
        }
        return TAPML_OK;
    }
    begin(client, MESSAGE_FILL);
    wire_put_u32(&client->log, buffer->number);
    wire_put_u64(&client->log, offset);
    wire_put_u64(&client->log, size);
    wire_put_u32(&client->log, pattern);
    note_work(client);
    return end(client);
}

// -- The whole ---------------------------------------------------------------------------------

static const struct backend_info *client_info(const struct backend *backend)
{
    return &own(backend)->info;
}

static void client_release(struct backend *backend)
{
    struct client *client = own(backend);
    if (client->is_up) {
        begin(client, MESSAGE_CLOSE);
        wire_end(&client->log);
        (void)send_log(client, -1); // Who does not hear it is ended by the channel.
    }
    channel_release(client->given.channel);
    buffer_list_release(&client->buffers);
    wire_writer_release(&client->log);
    crashes_release(&client->crashes);
    loan_list_release(&client->loans);
    shared_destroy(client->shared);
    staging_release(&client->staging);
    alloc_free(client);
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
    .call = client_call,
    .flush = client_flush,
    .wait = client_wait,
    .signal = client_signal,
    .wait_for = client_wait_for,
    .launches = client_launches,
    .identity = client_identity,
    .generation = client_generation,
    .lend = client_lend,
    .take_back = client_take_back,
};

tapml_status client_create(const struct client_options *options, struct backend **out_backend)
{
    struct client *client = alloc_new(sizeof(*client));
    if (!client) {
        channel_release(options->channel);
        return status_no_memory();
    }
    client->backend.vt = &client_vt;
    client->given = *options;
    client->log = MESSAGE_WRITER;
    crashes_init(&client->crashes);
    tapml_status status = shared_create(SHARED_WRITABLE, &client->shared);
    if (status == TAPML_OK) {
        status = shared_take(client->shared, sizeof(uint64_t), &client->control);
    }
    if (status == TAPML_OK) {
        status = open_far_side(client);
    }
    if (status == TAPML_INTERNAL && client->falls == 1) {
        status = open_far_side(client); // Who ends once while opening may have been ended.
    }
    if (status != TAPML_OK) {
        client_release(&client->backend);
        return status;
    }
    *out_backend = &client->backend;
    return TAPML_OK;
}
