// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The writer: a thread that owns the store's connection while a run is carved, behind a bounded
// queue.
//
// Items are written in the order in which they are pushed. The items between two commits are one
// transaction, or several if they are large; a call is never divided.
//
// Functions are called by one thread, the owner of the writer. A failure of the writer's thread is
// returned by the next function with a status.
#pragma once

#include "base/status.h"
#include "store/call_line.h"
#include "store/case.h"
#include "store/prompt.h"

#include <stddef.h>
#include <stdint.h>

struct checkpoint_tensor;

struct arena;
struct store;

// The most bytes that wait in the queue; a larger item waits alone. A prefill of a large model
// produces more than the thread writes meanwhile; the thread catches up during the decodes.
enum { WRITER_QUEUE_BYTES = 256 << 20 };

// The thread starts to write when so many bytes wait, or a step ends: waking it for every call
// would cost the run more than the writing.
enum { WRITER_BATCH_BYTES = 1 << 20 };

// Bytes of a transaction before the next one begins: the log of the store stays small, and its
// pages are reused while the system still caches them, even if a prefill keeps hundreds of
// megabytes.
enum { WRITER_CHUNK_BYTES = 16 << 20 };

struct writer;

enum writer_kind { WRITER_CALL, WRITER_PROMPT, WRITER_COMMIT };

// A weight that the store may not have yet. Its bytes outlive the writer.
struct writer_weight {
    const char *name;
    uint32_t dtype;
    const void *data;
    uint64_t bytes;
    const struct checkpoint_tensor
        *tensor; // The same, whose bytes may not be in one piece; or NULL.
};

// What to write: created and filled by the recorder; `writer_push` takes the ownership.
struct writer_item {
    enum writer_kind kind;
    struct arena *arena; // Owns all that the item points to, except contents; NULL in a line.
    uint64_t bytes;      // Its size in the queue: shared contents count once.
    struct call_line call;
    struct carved_case item; // If the call is kept.
    struct writer_weight *weights;
    uint32_t weight_count;
    struct blob **blobs; // Contents that the case refers to; those of weights outlive the writer.
    uint32_t blob_count;
    struct carved_prompt prompt;
    struct writer_item *next; // Of the queue.
};

// An empty item with its arena; NULL: no memory. Destroyed by the caller unless it was pushed.
struct writer_item *writer_item_create(enum writer_kind kind);
void writer_item_destroy(struct writer_item *item);

// An item of kind WRITER_CALL for a call that is not kept, of which its line is all: one block of
// memory with copies of the texts. NULL: no memory.
struct writer_item *writer_item_create_line(const struct call_line *line);

// Makes an item with an arena empty again, of the same kind, and keeps memory for its next use.
void writer_item_reset(struct writer_item *item);

// Opens the store, creates it if it is absent, and starts the thread. The caller owns the writer.
tapml_status writer_create(const char *store_path, struct writer **out_writer) STATUS_USED;

// Puts an item into the queue, which owns it from then on, and waits while the queue is full. After
// a failure of the thread items are dropped.
void writer_push(struct writer *writer, struct writer_item *item);

// The failure of the thread so far.
tapml_status writer_status(struct writer *writer) STATUS_USED;

// Waits until all is written, and ends the thread. What was not committed is rolled back. Returns a
// failure of the thread, as every later call does.
tapml_status writer_finish(struct writer *writer) STATUS_USED;
// Ends the thread and frees the writer. Accepts NULL.
void writer_destroy(struct writer *writer);
