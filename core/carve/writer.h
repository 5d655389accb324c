// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The writer: a thread that owns the store's connection while a run is carved, behind a bounded
// queue.
//
// Items are written in the order in which they come. What lies between two commits is one
// transaction, or several where it is large: none divides a call.
//
// Functions are called by one thread, the owner of the writer. A failure of the writer's thread
// comes out of the next function that returns a status.
#pragma once

#include "base/status.h"
#include "store/call_line.h"
#include "store/case.h"
#include "store/prompt.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// What waits in the queue at most; a larger item waits alone. A prefill of a large model keeps more
// than the thread writes meanwhile, which the decodes after it make up for.
enum { WRITER_QUEUE_BYTES = 256 << 20 };

// The thread begins with what waits when that is so much, or a step ends: waking it for every call
// would cost the run more than what it writes.
enum { WRITER_BATCH_BYTES = 1 << 20 };

// What a transaction has before the next one begins. So the log of the store stays small, and its
// pages are written over while the system still has them, also where a prefill keeps hundreds of
// megabytes.
enum { WRITER_CHUNK_BYTES = 16 << 20 };

struct writer;

enum writer_kind { WRITER_CALL, WRITER_PROMPT, WRITER_COMMIT };

// A weight that the store may not know yet. Its bytes outlive the writer.
struct writer_weight {
    const char *name;
    uint32_t dtype;
    const void *data;
    uint64_t bytes;
};

// What to write: made and filled by the recorder, taken over by `writer_push`.
struct writer_item {
    enum writer_kind kind;
    struct arena *arena; // Owns all that the item points at, but contents.
    uint64_t bytes;      // What it weighs in the queue: contents that others share count once.
    struct call_line call;
    struct carved_case item; // Where the call is kept.
    struct writer_weight *weights;
    uint32_t weight_count;
    struct blob **blobs; // Contents that the case refers to; those of weights outlive the writer.
    uint32_t blob_count;
    struct carved_prompt prompt;
    struct writer_item *next; // The queue's.
};

// An empty item with its arena, or NULL: no memory.
struct writer_item *writer_item_create(enum writer_kind kind);
void writer_item_destroy(struct writer_item *item);

// Opens the store, made where it is absent, and starts the thread.
tapml_status writer_create(const char *store_path, struct writer **out_writer) STATUS_USED;

// Puts an item into the queue, and waits while that is full. What comes after a failure of the
// thread is dropped.
void writer_push(struct writer *writer, struct writer_item *item);

// The failure of the thread so far.
tapml_status writer_status(struct writer *writer) STATUS_USED;

// Waits until all is written, and ends the thread. What was not committed is rolled back. A failure
// of the thread comes out here and from every later call.
tapml_status writer_finish(struct writer *writer) STATUS_USED;
void writer_destroy(struct writer *writer);
