// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Messages that only go over a stream: the bytes that a link in one machine has in shared memory,
// and the life of the worker at the other end. docs/wire.md has the list.
//
// Any thread; writers and readers are the caller's.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "remote/piece_cache.h"

#include <tapml/wire/wire.h>

enum bulk_verb {
    BULK_START = 96, // u32 generation, u64 bytes of memory that the worker may take.
    BULK_STARTED,    // u32 generation, text: "" or why it cannot be started.
    BULK_STOP,       // u32 generation: the worker is ended.
    BULK_END,        // u32 generation, u32 was killed, u64 progress, texts: how, last words.
    BULK_DATA,       // Bytes of memory.
    BULK_PIECE,      // The same, to be kept by its hash.
    BULK_PLACE,      // The same, by the hash of what was kept.
    BULK_HAVE,       // What is kept: hashes, u64 high and u64 low each.
    BULK_LOST,       // What was kept may not be any more: only what HAVE says from here on.
    BULK_LIST,       // Which devices are there?
    BULK_DEVICES,    // i64 status, text: a line for each device, or why there are none.
    BULK_EXPECT,     // What the next read is expected to give (remote/expectation.h).
    BULK_SAME        // A span of what was read is as expected.
};

// A span of memory that a message is about; at most PIECE_BYTES_MAX bytes.
struct bulk_span {
    uint32_t number; // Of a region, or with MESSAGE_IS_IMPORT of an import.
    uint64_t offset;
    uint32_t bytes;
};

// What was read of one of the messages about bytes.
struct bulk_data {
    struct bulk_span span;
    struct hash hash;   // Of PIECE and PLACE.
    uint32_t codec;     // Of `packed`.
    const void *packed; // In the frame; NULL: PLACE and SAME.
    size_t packed_bytes;
};

struct bulk_packer; // Compresses what gets smaller by it.

// NULL where there is no memory.
struct bulk_packer *bulk_packer_create(void);
void bulk_packer_destroy(struct bulk_packer *packer);

// Appends a message with the bytes of a span: PIECE where there is a hash, else DATA. The writer
// keeps a lack of memory.
void bulk_put_data(struct bulk_packer *packer,
                   struct wire_writer *writer,
                   const struct bulk_span *span,
                   const struct hash *hash,
                   const void *bytes);
void bulk_put_place(struct wire_writer *writer, const struct bulk_span *span, struct hash hash);

void bulk_put_same(struct wire_writer *writer, const struct bulk_span *span);

// Reads one of the messages about a span: DATA, PIECE, PLACE or SAME. TAPML_INVALID if it is
// malformed.
tapml_status bulk_take(const struct wire_frame *frame, struct bulk_data *out_data) STATUS_USED;

// Unpacks the bytes to `out_bytes`, of which there are `data->span.bytes`. TAPML_INVALID if they
// are others.
tapml_status bulk_unpack(const struct bulk_data *data, void *out_bytes) STATUS_USED;
