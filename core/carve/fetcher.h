// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Reads the contents of a call's arguments out of a backend's buffers: by one copy if buffers are
// host memory, and by none if a case has the contents already.
//
// The contents that a call wrote are noted with the case that keeps them. A later call that reads
// the same bytes shares them, until `fetcher_forget` is called because they change: the wrapper
// that uses the fetcher calls it before everything that writes to a buffer or frees it.
//
// One thread: that of the backend, whose failures are returned.
#pragma once

#include "base/status.h"
#include "carve/blob.h"
#include "device/backend.h"
#include "store/case.h"

struct fetcher {
    struct backend *backend; // Borrowed.
    struct blob_keeper blobs;
    struct fetch *fetches; // Reads that are not finished.
    size_t fetch_count, fetch_capacity;
    struct fetch_note *notes;
    size_t note_count, note_capacity;
};

// An argument of a call: its description in a case, its value, and the name of its base value. All
// are borrowed; a name lives as long as the buffer.
struct fetch_from {
    const struct case_argument *argument;
    const tapml_value *value;
    const char *name;
};

// Makes a fetcher without notes. `fetcher_release` frees its memory; no read may be unfinished
// then, and no blob that it gave have an owner.
void fetcher_init(struct fetcher *fetcher, struct backend *backend);
void fetcher_release(struct fetcher *fetcher);

// Begins to read the contents of a tensor or of a list. The caller owns the blob, which has the
// contents after `fetcher_end`.
tapml_status fetcher_begin(struct fetcher *fetcher,
                           const struct fetch_from *from,
                           struct blob **out_blob) STATUS_USED;

// Waits for the reads that were begun, even if `status` is a failure: no memory is written after
// that. Returns the first failure, `status` included.
tapml_status fetcher_end(struct fetcher *fetcher, tapml_status status) STATUS_USED;

// Begins to read one tensor that is no panel of a larger one, whatever it is: strided, in blocks,
// in tiles. `dense` has room for `bytes`, which are all of it (encoding_bytes), and has the
// contents after `fetcher_end`.
tapml_status fetcher_tensor(struct fetcher *fetcher,
                            const tapml_tensor *tensor,
                            uint64_t bytes,
                            void *dense) STATUS_USED;

// The layout of such a tensor, without spans: that of its values, or of its `bytes` as one axis if
// it is encoded.
struct case_argument fetcher_view(const tapml_tensor *tensor, uint64_t bytes);

// The contents of a tensor where they lie, dense, until `fetcher_unmap`; NULL: they have to be
// fetched.
tapml_status fetcher_map(struct fetcher *fetcher,
                         const struct fetch_from *from,
                         const void **out_data) STATUS_USED;
void fetcher_unmap(struct fetcher *fetcher, const struct fetch_from *from);

// Notes that a call has written the contents of `blob`, which later calls share.
tapml_status
fetcher_note(struct fetcher *fetcher, const struct fetch_from *from, struct blob *blob) STATUS_USED;

// Forgets the notes of a buffer; NULL: of all buffers.
void fetcher_forget(struct fetcher *fetcher, const tapml_object *buffer);
