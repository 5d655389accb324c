// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// remote/bulk and remote/mirror: any frames as what a host sends about memory. Frames of a link
// make and drop memory, as a session does; those about bytes fill it.
#include "fuzz.h"

#include "link/message.h"
#include "remote/bulk.h"
#include "remote/expectation.h"
#include "remote/mirror.h"
#include "remote/reads.h"

#include <string.h>

enum { MEMORY_BYTES_MAX = 1 << 22 };

static void make_memory(struct mirror *mirror, const struct wire_frame *frame)
{
    struct wire_reader reader;
    int descriptor = -1;
    wire_reader_init(&reader, frame);
    const uint32_t number = frame->verb == MESSAGE_REGION
                                ? mirror_next_region(mirror)
                                : wire_take_u32(&reader) | MESSAGE_IS_IMPORT;
    const uint64_t bytes = wire_take_u64(&reader);
    const uint64_t before = mirror->bytes_made;
    if (!fuzz_refused(mirror_make(mirror, number, bytes, MEMORY_BYTES_MAX, &descriptor))) {
        FUZZ_CHECK(descriptor >= 0 && mirror_span(mirror, number, 0, bytes));
        FUZZ_CHECK(!mirror_span(mirror, number, 1, bytes));
        FUZZ_CHECK(mirror->bytes_made == before + bytes);
        FUZZ_CHECK(mirror->bytes_made <= MEMORY_BYTES_MAX);
    } else {
        FUZZ_CHECK(mirror->bytes_made == before);
    }
}

static void drop_memory(struct mirror *mirror, const struct wire_frame *frame)
{
    struct wire_reader reader;
    wire_reader_init(&reader, frame);
    mirror_drop(mirror, wire_take_u32(&reader) | MESSAGE_IS_IMPORT);
}

static void take_bytes(const struct mirror *mirror, const struct wire_frame *frame)
{
    struct bulk_data data;
    if (fuzz_refused(bulk_take(frame, &data))) {
        return;
    }
    FUZZ_CHECK(data.span.bytes > 0 && data.span.bytes <= PIECE_BYTES_MAX);
    FUZZ_CHECK((data.packed == NULL) == (frame->verb == BULK_PLACE || frame->verb == BULK_SAME));
    unsigned char *memory =
        mirror_span(mirror, data.span.number, data.span.offset, data.span.bytes);
    if (memory && data.packed) {
        (void)fuzz_refused(bulk_unpack(&data, memory));
        (void)hash_bytes(memory, data.span.bytes);
    }
}

// Hashes of blocks of zeros, whatever they are.
static void expect(const struct wire_frame *frame)
{
    static const unsigned char zeros[4 * EXPECTATION_BLOCK_BYTES];
    struct expectation expectation = {.hashes = NULL};
    int is_same = 0;
    if (fuzz_refused(expectation_take(frame, &expectation))) {
        FUZZ_CHECK(!expectation.hashes);
        return;
    }
    const uint32_t bytes =
        (uint32_t)(expectation.bytes < sizeof(zeros) ? expectation.bytes : sizeof(zeros));
    const uint32_t run = expectation_run(expectation.hashes, 0, zeros, bytes, &is_same);
    FUZZ_CHECK(run > 0 && run <= bytes);
    expectation_release(&expectation);
}

static void
note_read(const struct mirror *mirror, struct reads *reads, const struct wire_frame *frame)
{
    struct wire_reader reader;
    struct reads_span span = {0};
    wire_reader_init(&reader, frame);
    span.bytes = wire_take_u64(&reader);
    span.number = wire_take_u32(&reader);
    span.offset = wire_take_u64(&reader);
    if (mirror_span(mirror, span.number, span.offset, span.bytes)) {
        FUZZ_CHECK(reads_add(reads, &span) == TAPML_OK);
    }
}

static void wait_for(struct reads *reads, const struct wire_frame *frame)
{
    struct wire_reader reader;
    wire_reader_init(&reader, frame);
    const uint64_t point = wire_take_u64(&reader);
    const uint64_t end = reads_end_of(reads, point);
    FUZZ_CHECK(end <= reads_end(reads));
    for (const struct reads_span *read; (read = reads_first(reads, end)) != NULL;) {
        reads_take(reads, (read->bytes + 1) / 2);
    }
}

static void take_frame(struct mirror *mirror, struct reads *reads, const struct wire_frame *frame)
{
    struct wire_reader reader;
    wire_reader_init(&reader, frame);
    switch (frame->verb) {
    case MESSAGE_REGION:
    case MESSAGE_SHARE:
        make_memory(mirror, frame);
        break;
    case MESSAGE_UNSHARE:
        drop_memory(mirror, frame);
        break;
    case MESSAGE_READ:
        note_read(mirror, reads, frame);
        break;
    case BULK_EXPECT:
        expect(frame);
        break;
    case MESSAGE_SIGNAL:
        FUZZ_CHECK(reads_mark(reads, wire_take_u64(&reader)) == TAPML_OK);
        break;
    case MESSAGE_WAIT_FOR:
        wait_for(reads, frame);
        break;
    case BULK_DATA:
    case BULK_PIECE:
    case BULK_PLACE:
    case BULK_SAME:
        take_bytes(mirror, frame);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mirror mirror = {.bytes_made = 0};
    struct reads reads = {.count = 0};
    struct wire_frame frame;
    fuzz_begin();
    while (wire_read(data, size, &frame) == WIRE_FRAME) {
        take_frame(&mirror, &reads, &frame);
        data += wire_frame_bytes(&frame);
        size -= wire_frame_bytes(&frame);
    }
    reads_release(&reads);
    mirror_release(&mirror);
    fuzz_end();
    return 0;
}
