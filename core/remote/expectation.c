// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/expectation.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "remote/bulk.h"

static uint64_t block_count(uint64_t bytes)
{
    return (bytes + EXPECTATION_BLOCK_BYTES - 1) / EXPECTATION_BLOCK_BYTES;
}

static size_t block_bytes(uint64_t rest)
{
    return rest < EXPECTATION_BLOCK_BYTES ? (size_t)rest : EXPECTATION_BLOCK_BYTES;
}

void expectation_release(struct expectation *expectation)
{
    alloc_free(expectation->hashes);
    *expectation = (struct expectation){.hashes = NULL};
}

void expectation_put(struct wire_writer *writer,
                     const struct expectation *expectation,
                     const void *memory)
{
    const unsigned char *bytes = memory;

    wire_begin(writer, BULK_EXPECT, 0);
    wire_put_u32(writer, expectation->number);
    wire_put_u64(writer, expectation->offset);
    wire_put_u64(writer, expectation->bytes);
    for (uint64_t at = 0; at < expectation->bytes; at += EXPECTATION_BLOCK_BYTES) {
        wire_put_u64(writer, hash_bytes(bytes + at, block_bytes(expectation->bytes - at)).low);
    }
    wire_end(writer);
}

tapml_status expectation_take(const struct wire_frame *frame, struct expectation *out_expectation)
{
    struct expectation taken = {.hashes = NULL};
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    taken.number = wire_take_u32(&reader);
    taken.offset = wire_take_u64(&reader);
    taken.bytes = wire_take_u64(&reader);
    const uint64_t count = block_count(taken.bytes);

    if (reader.is_broken || taken.bytes == 0 || taken.bytes > EXPECTATION_BYTES_MAX ||
        wire_left(&reader) != count * sizeof(uint64_t)) {
        return status_fail(TAPML_INVALID, "what is expected of a read is malformed");
    }
    taken.hashes = alloc_raw(count * sizeof(uint64_t));
    if (taken.hashes == NULL) {
        return status_no_memory();
    }
    for (uint64_t i = 0; i < count; i++) {
        taken.hashes[i] = wire_take_u64(&reader);
    }
    *out_expectation = taken;
    return TAPML_OK;
}

uint32_t expectation_run(const uint64_t *hashes,
                         uint64_t block,
                         const unsigned char *memory,
                         uint32_t bytes,
                         int *out_is_same)
{
    uint32_t at = 0;

    *out_is_same = 0;
    for (; at < bytes; block++) {
        const size_t size = block_bytes(bytes - at);
        const int is_same = hash_bytes(memory + at, size).low == hashes[block];

        if (at == 0) {
            *out_is_same = is_same;
        } else if (is_same != *out_is_same) {
            break;
        }
        at += (uint32_t)size;
    }
    return at;
}
