// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/serve.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "device/knobs.h"
#include "link/message_knobs.h"
#include "link/served_ops.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NUMBER_MAX = 1 << 22,  // Buffers at once,
    IMPORTS_MAX = 1 << 16, // and imports.
    COUNTS_MAX = 1024,
    POINTS_MAX = 64, // That are remembered.
    MESSAGE_BYTES = 2048
};

struct served_region {
    unsigned char *memory; // NULL: an import that is no more.
    uint64_t bytes;
    uint32_t users; // Buffers that wrap a span of it.
};

struct served_buffer {
    tapml_object *object; // NULL: there is none of this number.
    uint32_t region;      // As in the message, where it wraps a span of one.
    int is_wrapping;
};

// A point of the near side, and the backend's own.
struct served_point {
    uint64_t value; // 0: there is none.
    struct backend_point point;
};

struct server {
    struct serve_options given;
    struct arena *arena;     // Of the settings and the list of ops.
    struct backend *backend; // NULL until it is open.
    struct served_ops ops;
    struct served_region *regions;
    size_t region_count, region_capacity;
    struct served_region *imports; // By number. Mapped to be read.
    size_t import_count, import_capacity;
    struct served_buffer *buffers; // By number.
    size_t buffer_count, buffer_capacity;
    _Atomic(uint64_t) *progress; // In a region: the number of the message at work.
    struct message_args args;
    struct served_point points[POINTS_MAX]; // A ring.
    uint64_t point_count;                   // Ever.
    int is_working;                         // Something was queued since the last wait.
    tapml_status failure;                   // Of queued work, since then.
    char failure_text[MESSAGE_BYTES];
    int is_closed;
};

tapml_status serve_create(const struct serve_options *options, struct server **out_server)
{
    struct server *server = alloc_new(sizeof(*server));
    struct arena *arena = arena_create();
    if (!server || !arena) {
        alloc_free(server);
        arena_destroy(arena);
        return status_no_memory();
    }
    server->given = *options;
    server->arena = arena;
    *out_server = server;
    return TAPML_OK;
}

static void unmap(struct served_region *region)
{
    if (region->memory) {
        munmap(region->memory, region->bytes);
    }
    *region = (struct served_region){0};
}

void serve_destroy(struct server *server)
{
    if (!server) {
        return;
    }
    if (server->backend) {
        (void)backend_wait(server->backend); // What is queued uses what goes now.
    }
    for (size_t i = 0; i < server->buffer_count; i++) {
        backend_buffer_free(server->backend, server->buffers[i].object);
    }
    for (size_t i = 0; i < server->region_count; i++) {
        unmap(&server->regions[i]);
    }
    for (size_t i = 0; i < server->import_count; i++) {
        unmap(&server->imports[i]);
    }
    message_args_release(&server->args);
    alloc_free(server->buffers);
    alloc_free(server->regions);
    alloc_free(server->imports);
    arena_destroy(server->arena);
    alloc_free(server);
}

int serve_is_closed(const struct server *server)
{
    return server->is_closed;
}

// -- Opening -----------------------------------------------------------------------------------

static tapml_status open_backend(struct server *server, struct wire_reader *reader)
{
    struct message_setting *settings = NULL;
    struct catalogue *catalogue = NULL;
    size_t count = 0;
    if (server->backend) {
        return status_fail(TAPML_PRECONDITION, "a backend is open already");
    }
    TAPML_TRY(message_take_settings(reader, server->arena, &settings, &count));
    TAPML_TRY(
        server->given.open(server->given.user, settings, count, &server->backend, &catalogue));
    return served_ops_list(&server->ops, server->backend, catalogue, server->arena);
}

static void put_opened(const struct server *server, struct wire_writer *replies)
{
    message_put_info(replies, backend_info(server->backend));
    served_ops_put_all(&server->ops, replies);
}

// -- Memory ------------------------------------------------------------------------------------

static tapml_status
map_region(uint64_t bytes, int descriptor, int protection, struct served_region *region)
{
    struct stat about;
    if (descriptor < 0 || fstat(descriptor, &about) != 0 || about.st_size < 0 || bytes == 0 ||
        bytes > (uint64_t)about.st_size || bytes > SIZE_MAX) {
        return status_fail(TAPML_INVALID, "a region comes without the memory for its %llu bytes",
                           (unsigned long long)bytes);
    }
    void *memory = mmap(NULL, bytes, protection, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        return status_fail(TAPML_NO_MEMORY, "a region of %llu bytes cannot be mapped: %s",
                           (unsigned long long)bytes, strerror(errno));
    }
    *region = (struct served_region){.memory = memory, .bytes = bytes};
    return TAPML_OK;
}

// A region, by turns numbered from 0. The first word of the first one is for the progress.
static tapml_status add_region(struct server *server, struct wire_reader *reader, int descriptor)
{
    const uint64_t bytes = wire_take_u64(reader);
    if (!wire_is_done(reader)) {
        return status_fail(TAPML_INVALID, "a region without its size");
    }
    if (!alloc_grow((void **)&server->regions, &server->region_capacity, server->region_count,
                    sizeof(*server->regions))) {
        return status_no_memory();
    }
    struct served_region *region = &server->regions[server->region_count];
    TAPML_TRY(map_region(bytes, descriptor, PROT_READ | PROT_WRITE, region));
    if (server->region_count++ == 0 && bytes >= sizeof(*server->progress)) {
        server->progress = (_Atomic(uint64_t) *)(void *)region->memory;
    }
    return TAPML_OK;
}

static tapml_status take_import(struct server *server, struct wire_reader *reader, int descriptor)
{
    const uint32_t number = wire_take_u32(reader);
    const uint64_t bytes = wire_take_u64(reader);
    if (!wire_is_done(reader) || number >= IMPORTS_MAX) {
        return status_fail(TAPML_INVALID, "an import without a number and a size");
    }
    while (server->import_count <= number) {
        if (!alloc_grow((void **)&server->imports, &server->import_capacity, server->import_count,
                        sizeof(*server->imports))) {
            return status_no_memory();
        }
        server->imports[server->import_count++] = (struct served_region){0};
    }
    return server->imports[number].memory
               ? status_fail(TAPML_INVALID, "there is an import %u already", number)
               : map_region(bytes, descriptor, PROT_READ, &server->imports[number]);
}

// Waits before memory goes: the near side may have left its own wait out.
static tapml_status finish_work(struct server *server)
{
    const int is_working = server->is_working;
    server->is_working = 0;
    return is_working ? backend_wait(server->backend) : TAPML_OK;
}

static tapml_status give_back(struct server *server, struct wire_reader *reader)
{
    const uint32_t number = wire_take_u32(reader);
    if (!wire_is_done(reader) || number >= server->import_count ||
        !server->imports[number].memory) {
        return status_fail(TAPML_INVALID, "there is no import %u", number);
    }
    if (server->imports[number].users > 0) {
        return status_fail(TAPML_PRECONDITION, "%u buffers lie in the import %u",
                           server->imports[number].users, number);
    }
    const tapml_status status = finish_work(server);
    unmap(&server->imports[number]);
    return status;
}

// A region or an import by the number in a message; NULL where there is none.
static struct served_region *find_region(const struct server *server, uint32_t number)
{
    const uint32_t index = number & ~MESSAGE_IS_IMPORT;
    if (index != number) {
        return index < server->import_count ? &server->imports[index] : NULL;
    }
    return index < server->region_count ? &server->regions[index] : NULL;
}

// A span of a region or, where it is only to be read, of an import.
struct span {
    uint32_t number;
    unsigned char *memory;
};

static tapml_status take_span(const struct server *server,
                              struct wire_reader *reader,
                              uint64_t bytes,
                              struct span *out_span)
{
    const uint32_t number = wire_take_u32(reader);
    const uint64_t offset = wire_take_u64(reader);
    const struct served_region *region = find_region(server, number);
    const uint64_t all = region ? region->bytes : 0;
    if (!wire_is_done(reader) || all == 0 || offset > all || bytes > all - offset) {
        return status_fail(TAPML_INVALID, "a span of %llu bytes lies in no region",
                           (unsigned long long)bytes);
    }
    *out_span = (struct span){number, region->memory + offset};
    return TAPML_OK;
}

static tapml_object *find_buffer(void *user, uint32_t number)
{
    const struct server *server = user;
    return number < server->buffer_count ? server->buffers[number].object : NULL;
}

// The place for a new buffer of `number`.
static tapml_status
claim_number(struct server *server, uint32_t number, struct served_buffer **out_buffer)
{
    if (number == 0 || number > NUMBER_MAX) {
        return status_fail(TAPML_INVALID, "no buffer has the number %u", number);
    }
    while (server->buffer_count <= number) {
        if (!alloc_grow((void **)&server->buffers, &server->buffer_capacity, server->buffer_count,
                        sizeof(*server->buffers))) {
            return status_no_memory();
        }
        server->buffers[server->buffer_count++] = (struct served_buffer){0};
    }
    *out_buffer = &server->buffers[number];
    return (*out_buffer)->object
               ? status_fail(TAPML_INVALID, "there is a buffer %u already", number)
               : TAPML_OK;
}

static tapml_status new_buffer(struct server *server, struct wire_reader *reader)
{
    struct served_buffer *buffer = NULL;
    const uint32_t number = wire_take_u32(reader);
    const uint64_t bytes = wire_take_u64(reader);
    if (!wire_is_done(reader) || bytes == 0) {
        return status_fail(TAPML_INVALID, "a buffer without a size");
    }
    TAPML_TRY(claim_number(server, number, &buffer));
    ASSERT(buffer);
    TAPML_TRY(backend_buffer_new(server->backend, bytes, &buffer->object));
    return TAPML_OK;
}

static tapml_status wrap_buffer(struct server *server, struct wire_reader *reader)
{
    struct served_buffer *buffer = NULL;
    struct span span = {0};
    const uint32_t number = wire_take_u32(reader);
    const uint64_t bytes = wire_take_u64(reader);
    TAPML_TRY(take_span(server, reader, bytes, &span));
    if (bytes == 0) {
        return status_fail(TAPML_INVALID, "a buffer without a size");
    }
    TAPML_TRY(claim_number(server, number, &buffer));
    ASSERT(buffer);
    const uint32_t access = span.number & MESSAGE_IS_IMPORT
                                ? TAPML_ACCESS_READ
                                : TAPML_ACCESS_READ | TAPML_ACCESS_WRITE;
    TAPML_TRY(backend_buffer_wrap(server->backend, span.memory, bytes, access, &buffer->object));
    *buffer = (struct served_buffer){buffer->object, span.number, 1};
    find_region(server, span.number)->users++;
    return TAPML_OK;
}

static tapml_status free_buffer(struct server *server, struct wire_reader *reader)
{
    const uint32_t number = wire_take_u32(reader);
    tapml_object *object = find_buffer(server, number);
    if (!wire_is_done(reader) || !object) {
        return status_fail(TAPML_INVALID, "there is no buffer %u", number);
    }
    const tapml_status status = finish_work(server);
    backend_buffer_free(server->backend, object);
    if (server->buffers[number].is_wrapping) {
        find_region(server, server->buffers[number].region)->users--;
    }
    server->buffers[number] = (struct served_buffer){0};
    return status;
}

// -- Work --------------------------------------------------------------------------------------

// A part of a buffer, as a message names it: the façade of the backend checks that it is one.
struct part {
    tapml_object *object;
    uint64_t offset;
    uint64_t bytes;
};

static tapml_status
take_part(struct server *server, struct wire_reader *reader, struct part *out_part)
{
    const uint32_t number = wire_take_u32(reader);
    struct part part = {.object = find_buffer(server, number)};
    part.offset = wire_take_u64(reader);
    part.bytes = wire_take_u64(reader);
    if (reader->is_broken || !part.object) {
        return status_fail(TAPML_INVALID, "there is no buffer %u", number);
    }
    *out_part = part;
    return TAPML_OK;
}

static tapml_status transfer(struct server *server, struct wire_reader *reader, int is_write)
{
    struct part part = {0};
    struct span span = {0};
    TAPML_TRY(take_part(server, reader, &part));
    TAPML_TRY(take_span(server, reader, part.bytes, &span));
    if (is_write) {
        return backend_write(server->backend, part.object, part.offset, span.memory, part.bytes);
    }
    return span.number & MESSAGE_IS_IMPORT
               ? status_fail(TAPML_INVALID, "an import is only read")
               : backend_read(server->backend, part.object, part.offset, span.memory, part.bytes);
}

static tapml_status fill(struct server *server, struct wire_reader *reader)
{
    struct part part = {0};
    TAPML_TRY(take_part(server, reader, &part));
    const uint32_t pattern = wire_take_u32(reader);
    if (!wire_is_done(reader)) {
        return status_fail(TAPML_INVALID, "a fill without its pattern");
    }
    return backend_fill(server->backend, part.object, part.offset, part.bytes, pattern);
}

static tapml_status copy(struct server *server, struct wire_reader *reader)
{
    struct part part = {0};
    TAPML_TRY(take_part(server, reader, &part));
    const uint32_t number = wire_take_u32(reader);
    const uint64_t offset = wire_take_u64(reader);
    tapml_object *target = find_buffer(server, number);
    if (!wire_is_done(reader) || !target) {
        return status_fail(TAPML_INVALID, "a copy to buffer %u, which is not there", number);
    }
    return backend_copy(server->backend, &(struct backend_copy){.source = part.object,
                                                                .target = target,
                                                                .source_offset = part.offset,
                                                                .target_offset = offset,
                                                                .size = part.bytes});
}

// The time at which all that was queued is done.
static tapml_status stamp(struct server *server, struct wire_reader *reader)
{
    struct span span = {0};
    uint64_t now_ns = 0;
    TAPML_TRY(take_span(server, reader, sizeof(now_ns), &span));
    if (span.number & MESSAGE_IS_IMPORT) {
        return status_fail(TAPML_INVALID, "an import is only read");
    }
    TAPML_TRY(backend_wait(server->backend));
    now_ns = clock_now_ns();
    memcpy(span.memory, &now_ns, sizeof(now_ns));
    return TAPML_OK;
}

static tapml_status call(struct server *server, struct wire_reader *reader)
{
    const struct compiled_op *schema = NULL;
    TAPML_TRY(served_ops_take(&server->ops, reader, &schema));
    const char *instance = wire_take_text(reader);
    const struct message_buffers buffers = {find_buffer, server};
    struct inferred inferred;
    TAPML_TRY(message_take_args(reader, schema->op, &buffers, &server->args));
    TAPML_TRY(infer_call(schema, server->args.values, &inferred));
    return backend_call(server->backend, &(struct backend_call){.op = schema->op,
                                                                .args = server->args.values,
                                                                .inferred = &inferred,
                                                                .instance = instance});
}

static tapml_status
supports(struct server *server, struct wire_reader *reader, tapml_support *answer)
{
    const struct compiled_op *schema = NULL;
    TAPML_TRY(served_ops_take(&server->ops, reader, &schema));
    TAPML_TRY(message_take_args(reader, schema->op, NULL, &server->args));
    return backend_supports(server->backend, schema, server->args.values, answer);
}

static tapml_status knobs(struct server *server,
                          struct wire_reader *reader,
                          struct arena *arena,
                          struct knob_space *out_space)
{
    const struct compiled_op *schema = NULL;
    TAPML_TRY(served_ops_take(&server->ops, reader, &schema));
    TAPML_TRY(message_take_args(reader, schema->op, NULL, &server->args));
    return knobs_ask(server->backend, schema, server->args.values, arena, out_space);
}

static tapml_status put_point(struct server *server, struct wire_reader *reader)
{
    const uint64_t count = server->point_count;
    const uint64_t value = wire_take_u64(reader);
    const uint64_t last = count > 0 ? server->points[(count - 1) % POINTS_MAX].value : 0;
    struct backend_point point = {0};
    if (!wire_is_done(reader) || value <= last) {
        return status_fail(TAPML_INVALID, "the point %llu does not stand behind %llu",
                           (unsigned long long)value, (unsigned long long)last);
    }
    TAPML_TRY(backend_signal(server->backend, &point));
    server->points[server->point_count++ % POINTS_MAX] = (struct served_point){value, point};
    return TAPML_OK;
}

// The first point that is remembered and does not stand in front of `value`, or NULL.
static const struct served_point *find_point(const struct server *server, uint64_t value)
{
    const uint64_t count = server->point_count;
    for (uint64_t at = count > POINTS_MAX ? count - POINTS_MAX : 0; at < count; at++) {
        if (server->points[at % POINTS_MAX].value >= value) {
            return &server->points[at % POINTS_MAX];
        }
    }
    return NULL;
}

// -- Answers -----------------------------------------------------------------------------------

static void
begin_reply(struct wire_writer *replies, const struct wire_frame *frame, tapml_status status)
{
    wire_begin(replies, MESSAGE_REPLY, frame->number);
    wire_put_i64(replies, status);
    wire_put_text(replies, status == TAPML_OK ? "" : status_message());
}

static tapml_status end_reply(struct wire_writer *replies)
{
    wire_end(replies);
    return replies->is_failed ? status_no_memory() : TAPML_OK;
}

static tapml_status answer_knobs(struct server *server,
                                 const struct wire_frame *frame,
                                 struct wire_reader *reader,
                                 struct wire_writer *replies)
{
    struct arena *arena = arena_create();
    struct knob_space space = {.count = 0};
    const tapml_status status = arena ? knobs(server, reader, arena, &space) : status_no_memory();
    begin_reply(replies, frame, status);
    message_knobs_put(replies, &space); // Nothing after a failure, of which nobody reads more.
    arena_destroy(arena);
    return end_reply(replies);
}

static void put_counts(struct server *server, uint32_t count, struct wire_writer *replies)
{
    wire_put_u64(replies, backend_launches(server->backend));
    wire_put_u32(replies, count);
    for (uint32_t i = 0; i < count; i++) {
        wire_put_u64(replies,
                     server->given.counter ? server->given.counter(server->given.user, i) : 0);
    }
}

// The first failure since the last wait is the answer, also where it came at once.
static tapml_status take_failure(struct server *server, tapml_status status)
{
    const tapml_status failure = server->failure;
    server->failure = TAPML_OK;
    return failure == TAPML_OK ? status : status_fail(failure, "%s", server->failure_text);
}

static tapml_status wait(struct server *server)
{
    const tapml_status status = backend_wait(server->backend);
    server->is_working = 0;
    return take_failure(server, status);
}

// Behind a failure nothing is queued that could be waited for.
static tapml_status wait_for(struct server *server, struct wire_reader *reader)
{
    const uint64_t value = wire_take_u64(reader);
    if (server->failure != TAPML_OK) {
        return wait(server);
    }
    const struct served_point *found = find_point(server, value);
    if (!wire_is_done(reader) || !found) {
        return status_fail(TAPML_INVALID, "there is no point %llu", (unsigned long long)value);
    }
    return backend_wait_for(server->backend, found->point);
}

// Messages that ask something.
static tapml_status answer(struct server *server,
                           const struct wire_frame *frame,
                           struct wire_reader *reader,
                           struct wire_writer *replies)
{
    tapml_support support = {.hdr = TAPML_HDR(tapml_support)};
    const struct compiled_op *defined = NULL;
    tapml_status status = TAPML_OK;
    uint32_t counted = 0;
    switch (frame->verb) {
    case MESSAGE_OPEN:
        status = open_backend(server, reader);
        break;
    case MESSAGE_SUPPORTS:
        status = supports(server, reader, &support);
        break;
    case MESSAGE_DEFINE:
        status = served_ops_define(&server->ops, reader, &defined);
        break;
    case MESSAGE_BUFFER_NEW:
        status = new_buffer(server, reader);
        break;
    case MESSAGE_WAIT:
        status = wait(server);
        break;
    case MESSAGE_WAIT_FOR:
        status = wait_for(server, reader);
        break;
    default:
        counted = wire_take_u32(reader);
        counted = counted < COUNTS_MAX ? counted : COUNTS_MAX;
        break;
    }
    begin_reply(replies, frame, status);
    if (status == TAPML_OK && frame->verb == MESSAGE_OPEN) {
        put_opened(server, replies);
    } else if (status == TAPML_OK && frame->verb == MESSAGE_DEFINE) {
        served_ops_put_defined(&server->ops, defined, replies);
    } else if (status == TAPML_OK && frame->verb == MESSAGE_SUPPORTS) {
        wire_put_u32(replies, support.grade);
        wire_put_text(replies, support.reason);
    } else if (status == TAPML_OK && frame->verb == MESSAGE_WAIT) {
        wire_put_u64(replies, backend_launches(server->backend));
    } else if (frame->verb == MESSAGE_COUNT) {
        put_counts(server, counted, replies);
    }
    return end_reply(replies);
}

// Messages that are work, in order. Behind a failure nothing more is done until the wait.
static tapml_status work(struct server *server, uint16_t verb, struct wire_reader *reader)
{
    if (server->failure != TAPML_OK) {
        return TAPML_OK;
    }
    server->is_working = 1;
    switch (verb) {
    case MESSAGE_WRITE:
        return transfer(server, reader, 1);
    case MESSAGE_READ:
        return transfer(server, reader, 0);
    case MESSAGE_FILL:
        return fill(server, reader);
    case MESSAGE_COPY:
        return copy(server, reader);
    case MESSAGE_CALL:
        return call(server, reader);
    case MESSAGE_SIGNAL:
        return put_point(server, reader);
    case MESSAGE_STAMP:
        return stamp(server, reader);
    default:
        return backend_flush(server->backend);
    }
}

static void note_failure(struct server *server, tapml_status status)
{
    if (status != TAPML_OK && server->failure == TAPML_OK) {
        server->failure = status;
        (void)snprintf(server->failure_text, sizeof(server->failure_text), "%s", status_message());
    }
}

static tapml_status serve(struct server *server,
                          const struct wire_frame *frame,
                          int descriptor,
                          struct wire_writer *replies)
{
    struct wire_reader reader;
    wire_reader_init(&reader, frame);
    if (server->progress) {
        atomic_store_explicit(server->progress, frame->number, memory_order_relaxed);
    }
    if (!server->backend && frame->verb != MESSAGE_OPEN && frame->verb != MESSAGE_REGION &&
        frame->verb != MESSAGE_CLOSE) {
        return status_fail(TAPML_INVALID, "the message %u comes before a backend is open",
                           frame->verb);
    }
    switch (frame->verb) {
    case MESSAGE_OPEN:
    case MESSAGE_SUPPORTS:
    case MESSAGE_DEFINE:
    case MESSAGE_BUFFER_NEW:
    case MESSAGE_WAIT:
    case MESSAGE_WAIT_FOR:
    case MESSAGE_COUNT:
        return answer(server, frame, &reader, replies);
    case MESSAGE_KNOBS:
        return answer_knobs(server, frame, &reader, replies);
    case MESSAGE_REGION:
        return add_region(server, &reader, descriptor);
    case MESSAGE_BUFFER_WRAP:
        note_failure(server, wrap_buffer(server, &reader));
        return TAPML_OK;
    case MESSAGE_BUFFER_FREE:
        note_failure(server, free_buffer(server, &reader));
        return TAPML_OK;
    case MESSAGE_SHARE:
        note_failure(server, take_import(server, &reader, descriptor));
        return TAPML_OK;
    case MESSAGE_UNSHARE:
        note_failure(server, give_back(server, &reader));
        return TAPML_OK;
    case MESSAGE_WRITE:
    case MESSAGE_READ:
    case MESSAGE_FILL:
    case MESSAGE_COPY:
    case MESSAGE_CALL:
    case MESSAGE_FLUSH:
    case MESSAGE_SIGNAL:
    case MESSAGE_STAMP:
        note_failure(server, work(server, frame->verb, &reader));
        return TAPML_OK;
    case MESSAGE_CLOSE:
        server->is_closed = 1;
        return TAPML_OK;
    default:
        return status_fail(TAPML_INVALID, "the message %u is none that a worker knows",
                           frame->verb);
    }
}

tapml_status serve_frame(struct server *server,
                         const struct wire_frame *frame,
                         int descriptor,
                         struct wire_writer *replies)
{
    const tapml_status status = serve(server, frame, descriptor, replies);
    if (descriptor >= 0) {
        close(descriptor);
    }
    return status;
}
