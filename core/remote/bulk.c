// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/bulk.h"

#include "base/alloc.h"

#include <string.h>
#include <zstd.h>

enum {
    CODEC_PLAIN,
    CODEC_ZSTD,
    LEVEL = 1,
    PACKED_BYTES_MIN = 256, // Fewer are sent as they are.
    SKIPPED_MAX = 31        // Spans that are not tried where others did not get smaller.
};

struct bulk_packer {
    ZSTD_CCtx *context;
    unsigned misses;  // Spans, one after the other, that did not get smaller,
    unsigned skipped; // and those that were not tried since.
    size_t capacity;
    unsigned char bytes[]; // Room for the packed form of a piece.
};

struct bulk_packer *bulk_packer_create(void)
{
    const size_t capacity = ZSTD_compressBound(PIECE_BYTES_MAX);
    struct bulk_packer *packer = alloc_new(sizeof(*packer) + capacity);
    ZSTD_CCtx *context = ZSTD_createCCtx();

    if (packer == NULL || context == NULL) {
        alloc_free(packer);
        ZSTD_freeCCtx(context);
        return NULL;
    }
    packer->context = context;
    packer->capacity = capacity;
    return packer;
}

void bulk_packer_destroy(struct bulk_packer *packer)
{
    if (packer != NULL) {
        ZSTD_freeCCtx(packer->context);
        alloc_free(packer);
    }
}

// Whether it is worth the time: after misses it is tried less and less often.
static int is_tried(struct bulk_packer *packer, size_t size)
{
    const unsigned pause = packer->misses < SKIPPED_MAX ? packer->misses : SKIPPED_MAX;

    if (size < PACKED_BYTES_MIN) {
        return 0;
    }
    if (packer->skipped < pause) {
        packer->skipped++;
        return 0;
    }
    packer->skipped = 0;
    return 1;
}

// The packed size, if it is a tenth smaller at least; else 0.
static size_t pack(struct bulk_packer *packer, const void *bytes, size_t size)
{
    if (!is_tried(packer, size)) {
        return 0;
    }
    const size_t packed =
        ZSTD_compressCCtx(packer->context, packer->bytes, packer->capacity, bytes, size, LEVEL);
    const int pays = !ZSTD_isError(packed) && packed < size - size / 10;

    packer->misses = pays ? 0 : packer->misses + 1;
    return pays ? packed : 0;
}

static void put_span(struct wire_writer *writer, const struct bulk_span *span)
{
    wire_put_u32(writer, span->number);
    wire_put_u64(writer, span->offset);
    wire_put_u32(writer, span->bytes);
}

static void put_hash(struct wire_writer *writer, struct hash hash)
{
    wire_put_u64(writer, hash.high);
    wire_put_u64(writer, hash.low);
}

void bulk_put_data(struct bulk_packer *packer,
                   struct wire_writer *writer,
                   const struct bulk_span *span,
                   const struct hash *hash,
                   const void *bytes)
{
    const size_t packed = pack(packer, bytes, span->bytes);

    wire_begin(writer, hash != NULL ? BULK_PIECE : BULK_DATA, 0);
    put_span(writer, span);
    if (hash != NULL) {
        put_hash(writer, *hash);
    }
    wire_put_u32(writer, packed > 0 ? CODEC_ZSTD : CODEC_PLAIN);
    wire_put_bytes(writer, packed > 0 ? packer->bytes : bytes, packed > 0 ? packed : span->bytes);
    wire_end(writer);
}

void bulk_put_place(struct wire_writer *writer, const struct bulk_span *span, struct hash hash)
{
    wire_begin(writer, BULK_PLACE, 0);
    put_span(writer, span);
    put_hash(writer, hash);
    wire_end(writer);
}

void bulk_put_same(struct wire_writer *writer, const struct bulk_span *span)
{
    wire_begin(writer, BULK_SAME, 0);
    put_span(writer, span);
    wire_end(writer);
}

tapml_status bulk_take(const struct wire_frame *frame, struct bulk_data *out_data)
{
    const int has_bytes = frame->verb == BULK_DATA || frame->verb == BULK_PIECE;
    struct bulk_data data = {.codec = CODEC_PLAIN};
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    data.span.number = wire_take_u32(&reader);
    data.span.offset = wire_take_u64(&reader);
    data.span.bytes = wire_take_u32(&reader);
    if (frame->verb == BULK_PIECE || frame->verb == BULK_PLACE) {
        data.hash.high = wire_take_u64(&reader);
        data.hash.low = wire_take_u64(&reader);
    }
    if (has_bytes) {
        data.codec = wire_take_u32(&reader);
        data.packed_bytes = wire_left(&reader);
        data.packed = wire_take_bytes(&reader, data.packed_bytes);
    }
    if (!wire_is_done(&reader) || data.span.bytes == 0 || data.span.bytes > PIECE_BYTES_MAX ||
        data.codec > CODEC_ZSTD || (has_bytes && data.packed == NULL)) {
        return status_fail(TAPML_INVALID, "a message about bytes is malformed");
    }
    *out_data = data;
    return TAPML_OK;
}

tapml_status bulk_unpack(const struct bulk_data *data, void *out_bytes)
{
    const size_t size = data->span.bytes;

    if (data->codec == CODEC_ZSTD) {
        return ZSTD_decompress(out_bytes, size, data->packed, data->packed_bytes) == size
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "%zu compressed bytes are damaged", size);
    }
    if (data->packed_bytes != size) {
        return status_fail(TAPML_INVALID, "%zu bytes in place of %zu", data->packed_bytes, size);
    }
    memcpy(out_bytes, data->packed, size);
    return TAPML_OK;
}
