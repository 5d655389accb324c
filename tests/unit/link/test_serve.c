// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "base/random.h"
#include "link/serve.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct ini ini;
static struct registry *registry;
static struct backend *backend;
static struct server *server;
static struct wire_writer message, replies;
static uint32_t number;

static tapml_status open_good(void *user,
                              const struct message_setting *settings,
                              size_t count,
                              struct backend **out_backend,
                              struct catalogue **out_catalogue)
{
    *out_backend = backend;
    *out_catalogue = registry_catalogue(registry);
    return TAPML_OK;
}

static uint64_t count_up(void *user, uint32_t index)
{
    return index + 100;
}

static void setup(void)
{
    const char *const names[] = {"good", NULL};
    registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, "good:first", &backend), TAPML_OK);
    cr_assert_eq(
        serve_create(&(struct serve_options){.open = open_good, .counter = count_up}, &server),
        TAPML_OK);
    message = replies = MESSAGE_WRITER;
}

static void teardown(void)
{
    serve_destroy(server);
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
    wire_writer_release(&message);
    wire_writer_release(&replies);
}

TestSuite(serve, .init = setup, .fini = teardown);

static void begin(uint16_t verb)
{
    message.size = 0;
    wire_begin(&message, verb, ++number);
}

static tapml_status give(int descriptor)
{
    struct wire_frame frame;
    wire_end(&message);
    cr_assert_eq(wire_read(message.data, message.size, &frame), WIRE_FRAME);
    replies.size = 0;
    return serve_frame(server, &frame, descriptor, &replies);
}

// The status in the answer to the last message; the rest of it is left in `out_reader`.
static tapml_status answer(struct wire_reader *out_reader)
{
    struct wire_frame frame;
    cr_assert_eq(wire_read(replies.data, replies.size, &frame), WIRE_FRAME);
    cr_assert_eq(frame.verb, MESSAGE_REPLY);
    cr_assert_eq(frame.number, number);
    wire_reader_init(out_reader, &frame);
    const tapml_status status = (tapml_status)wire_take_i64(out_reader);
    (void)status_fail(status, "%s", wire_take_text(out_reader));
    return status;
}

static tapml_status wait_for(void)
{
    struct wire_reader reader;
    begin(MESSAGE_WAIT);
    cr_assert_eq(give(-1), TAPML_OK);
    return answer(&reader);
}

static void open_all(void)
{
    struct wire_reader reader;
    const int descriptor = memfd_create("test", MFD_CLOEXEC);
    cr_assert_eq(ftruncate(descriptor, 4096), 0);
    begin(MESSAGE_REGION);
    wire_put_u64(&message, 4096);
    cr_assert_eq(give(descriptor), TAPML_OK, "%s", status_message());
    begin(MESSAGE_OPEN);
    message_put_settings(&message, NULL, 0);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert_eq(answer(&reader), TAPML_OK);
}

static void wrap(uint32_t buffer, uint64_t bytes, uint32_t region, uint64_t offset)
{
    begin(MESSAGE_BUFFER_WRAP);
    wire_put_u32(&message, buffer);
    wire_put_u64(&message, bytes);
    wire_put_u32(&message, region);
    wire_put_u64(&message, offset);
    cr_assert_eq(give(-1), TAPML_OK);
}

Test(serve, wants_to_be_opened_first)
{
    begin(MESSAGE_WAIT);
    cr_assert_eq(give(-1), TAPML_INVALID);
    begin(99);
    cr_assert_eq(give(-1), TAPML_INVALID);
}

Test(serve, refuses_regions_without_their_memory)
{
    const int descriptor = memfd_create("test", MFD_CLOEXEC);
    begin(MESSAGE_REGION);
    wire_put_u64(&message, 4096);
    cr_assert_eq(give(descriptor), TAPML_INVALID, "it is empty");
    cr_assert_eq(close(descriptor), -1, "and was closed");
    begin(MESSAGE_REGION);
    wire_put_u64(&message, 4096);
    cr_assert_eq(give(-1), TAPML_INVALID);
}

Test(serve, answers_for_buffers_that_are_not_there)
{
    open_all();
    wrap(1, 64, 0, 4096);
    cr_assert_eq(wait_for(), TAPML_INVALID, "behind the region");
    wrap(1, 64, 1, 0);
    cr_assert_eq(wait_for(), TAPML_INVALID, "no such region");
    wrap(0, 64, 0, 0);
    cr_assert_eq(wait_for(), TAPML_INVALID, "0 is no number");
    wrap(UINT32_MAX, 64, 0, 0);
    cr_assert_eq(wait_for(), TAPML_INVALID, "nor is this");
    wrap(3, 64, 0, 64);
    cr_assert_eq(wait_for(), TAPML_OK);
    wrap(3, 64, 0, 64);
    cr_assert_eq(wait_for(), TAPML_INVALID, "twice");
    begin(MESSAGE_FILL);
    wire_put_u32(&message, 3);
    wire_put_u64(&message, 4);
    wire_put_u64(&message, 64);
    wire_put_u32(&message, 0);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert_eq(wait_for(), TAPML_INVALID, "beyond the buffer");
    begin(MESSAGE_COPY);
    wire_put_u32(&message, 3);
    wire_put_u64(&message, 0);
    wire_put_u64(&message, 8);
    wire_put_u32(&message, 9);
    wire_put_u64(&message, 0);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert_eq(wait_for(), TAPML_INVALID, "to no buffer");
    begin(MESSAGE_BUFFER_FREE);
    wire_put_u32(&message, 2);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert_eq(wait_for(), TAPML_INVALID);
}

static void share(uint32_t import, int descriptor)
{
    begin(MESSAGE_SHARE);
    wire_put_u32(&message, import);
    wire_put_u64(&message, 4096);
    cr_assert_eq(give(descriptor), TAPML_OK, "%s", status_message());
}

static void unshare(uint32_t import)
{
    begin(MESSAGE_UNSHARE);
    wire_put_u32(&message, import);
    cr_assert_eq(give(-1), TAPML_OK, "%s", status_message());
}

static int make_memory(void)
{
    const int descriptor = memfd_create("test", MFD_CLOEXEC);
    cr_assert_eq(ftruncate(descriptor, 4096), 0);
    return descriptor;
}

static void transfer(uint16_t verb, uint32_t buffer, uint32_t region)
{
    begin(verb);
    wire_put_u32(&message, buffer);
    wire_put_u64(&message, 0);
    wire_put_u64(&message, 64);
    wire_put_u32(&message, region);
    wire_put_u64(&message, 0);
    cr_assert_eq(give(-1), TAPML_OK);
}

Test(serve, only_reads_what_it_has_imported)
{
    open_all();
    share(3, make_memory());
    wrap(1, 64, 0, 64);
    wrap(2, 64, MESSAGE_IS_IMPORT | 3, 64);
    cr_assert_eq(wait_for(), TAPML_OK, "%s", status_message());
    transfer(MESSAGE_WRITE, 1, MESSAGE_IS_IMPORT | 3);
    transfer(MESSAGE_READ, 2, 0);
    cr_assert_eq(wait_for(), TAPML_OK, "%s", status_message());
    transfer(MESSAGE_READ, 1, MESSAGE_IS_IMPORT | 3);
    cr_assert_eq(wait_for(), TAPML_INVALID, "into an import");
    transfer(MESSAGE_WRITE, 2, 0);
    cr_assert_eq(wait_for(), TAPML_INVALID, "into a buffer of one");
    begin(MESSAGE_FILL);
    wire_put_u32(&message, 2);
    wire_put_u64(&message, 0);
    wire_put_u64(&message, 64);
    wire_put_u32(&message, 0);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert_eq(wait_for(), TAPML_INVALID);
}

Test(serve, answers_for_imports_that_cannot_be)
{
    open_all();
    share(0, -1);
    cr_assert_eq(wait_for(), TAPML_INVALID, "without its memory");
    share(UINT32_MAX, make_memory());
    cr_assert_eq(wait_for(), TAPML_INVALID, "of no number");
    share(1, make_memory());
    share(1, make_memory());
    cr_assert_eq(wait_for(), TAPML_INVALID, "twice");
    wrap(1, 64, MESSAGE_IS_IMPORT, 0);
    cr_assert_eq(wait_for(), TAPML_INVALID, "there is no import 0");
    wrap(1, 64, MESSAGE_IS_IMPORT | 1, 4096);
    cr_assert_eq(wait_for(), TAPML_INVALID, "behind it");
    unshare(0);
    cr_assert_eq(wait_for(), TAPML_INVALID);
}

Test(serve, keeps_an_import_while_buffers_lie_in_it)
{
    open_all();
    share(0, make_memory());
    wrap(1, 64, MESSAGE_IS_IMPORT, 0);
    unshare(0);
    cr_assert_eq(wait_for(), TAPML_PRECONDITION);
    begin(MESSAGE_BUFFER_FREE);
    wire_put_u32(&message, 1);
    cr_assert_eq(give(-1), TAPML_OK);
    unshare(0);
    cr_assert_eq(wait_for(), TAPML_OK, "%s", status_message());
    wrap(1, 64, MESSAGE_IS_IMPORT, 0);
    cr_assert_eq(wait_for(), TAPML_INVALID, "it is gone");
    share(0, make_memory());
    wrap(1, 64, MESSAGE_IS_IMPORT, 0);
    cr_assert_eq(wait_for(), TAPML_OK, "and its number is free again");
}

Test(serve, counts_what_it_is_asked_for)
{
    struct wire_reader reader;
    open_all();
    begin(MESSAGE_COUNT);
    wire_put_u32(&message, 2);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert_eq(answer(&reader), TAPML_OK);
    cr_assert_eq(wire_take_u64(&reader), 0);
    cr_assert_eq(wire_take_u32(&reader), 2);
    cr_assert_eq(wire_take_u64(&reader), 100);
    cr_assert_eq(wire_take_u64(&reader), 101);
    cr_assert(wire_is_done(&reader));
    begin(MESSAGE_WAIT);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert_eq(answer(&reader), TAPML_OK);
    cr_assert_eq(wire_take_u64(&reader), 0, "launches, unasked");
    cr_assert(wire_is_done(&reader));
    begin(MESSAGE_CLOSE);
    cr_assert_eq(give(-1), TAPML_OK);
    cr_assert(serve_is_closed(server));
}

static tapml_status put_point(uint64_t value)
{
    begin(MESSAGE_SIGNAL);
    wire_put_u64(&message, value);
    return give(-1);
}

static tapml_status wait_for_point(uint64_t value)
{
    struct wire_reader reader;
    begin(MESSAGE_WAIT_FOR);
    wire_put_u64(&message, value);
    cr_assert_eq(give(-1), TAPML_OK);
    return answer(&reader);
}

Test(serve, waits_for_the_points_that_it_was_given)
{
    open_all();
    cr_assert_eq(wait_for_point(1), TAPML_INVALID, "there is none");
    for (uint64_t value = 1; value <= 200; value++) { // More than it remembers.
        cr_assert_eq(put_point(value), TAPML_OK);
    }
    cr_assert_eq(wait_for_point(1), TAPML_OK, "%s", status_message());
    cr_assert_eq(wait_for_point(200), TAPML_OK, "%s", status_message());
    cr_assert_eq(wait_for_point(201), TAPML_INVALID);
    cr_assert_eq(put_point(200), TAPML_OK);
    cr_assert_eq(wait_for_point(200), TAPML_INVALID, "points grow");
    cr_assert_not_null(strstr(status_message(), "does not stand behind"), "%s", status_message());
    cr_assert_eq(wait_for_point(200), TAPML_OK, "the failure was told");
}

static void stamp(uint32_t region, uint64_t offset)
{
    begin(MESSAGE_STAMP);
    wire_put_u32(&message, region);
    wire_put_u64(&message, offset);
    cr_assert_eq(give(-1), TAPML_OK);
}

Test(serve, a_stamp_goes_to_a_region_alone)
{
    open_all();
    stamp(0, 64);
    cr_assert_eq(wait_for(), TAPML_OK, "%s", status_message());
    stamp(0, 4096 - 7);
    cr_assert_eq(wait_for(), TAPML_INVALID, "it lies not whole in it");
    share(0, make_memory());
    stamp(MESSAGE_IS_IMPORT, 64);
    cr_assert_eq(wait_for(), TAPML_INVALID, "an import is only read");
}

// Whatever comes: it is refused or answered, and nothing is touched that was not announced.
Test(serve, bears_any_bytes)
{
    enum { TURNS = 20000, BYTES_MAX = 96 };
    struct random random;
    random_init(&random, 7);
    open_all();
    wrap(1, 1024, 0, 64);
    share(0, make_memory());
    wrap(2, 1024, MESSAGE_IS_IMPORT, 64);
    for (int turn = 0; turn < TURNS; turn++) {
        const uint16_t verb = (uint16_t)(MESSAGE_SUPPORTS + random_below(&random, 17));
        begin(verb == MESSAGE_CLOSE ? MESSAGE_CALL : verb);
        for (uint64_t left = random_below(&random, BYTES_MAX / 4); left > 0; left--) {
            const uint64_t small = random_below(&random, 5);
            wire_put_u32(&message, random_below(&random, 4) > 0 ? (uint32_t)small
                                                                : (uint32_t)random_u64(&random));
        }
        (void)give(-1); // Either way is right.
    }
    (void)wait_for();
    cr_assert_eq(wait_for(), TAPML_OK, "%s", status_message());
}
