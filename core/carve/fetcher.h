// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Reads the contents of a call's arguments out of a backend's buffers: by one copy where buffers
// are memory of the host, and not at all where a case has them already.
//
// The contents that a call has written are noted with the case that keeps them. A later call that
// reads the same bytes shares them, until `fetcher_forget` reports that they change: the wrapper
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
    struct fetch *fetches;   // Reads that are under way.
    size_t fetch_count, fetch_capacity;
    struct fetch_note *notes;
    size_t note_count, note_capacity;
};

// An argument of a call: how it is described in a case, its value, and its base value's name.
// All borrowed; a name lives as long as the buffer.
struct fetch_from {
    const struct case_argument *argument;
    const tapml_value *value;
    const char *name;
};

void fetcher_init(struct fetcher *fetcher, struct backend *backend);
void fetcher_release(struct fetcher *fetcher);

// Begins to read the contents of a tensor or of a list. The blob is the caller's, and has them
// after `fetcher_end`.
tapml_status fetcher_begin(struct fetcher *fetcher,
                           const struct fetch_from *from,
                           struct blob **out_blob) STATUS_USED;

// Waits for what was begun, with or without `status` a failure: no memory is
// written after that. Returns the first failure.
tapml_status fetcher_end(struct fetcher *fetcher, tapml_status status) STATUS_USED;

// The contents of a tensor where they lie, dense, until `fetcher_unmap`; NULL: they have to be
// fetched.
tapml_status fetcher_map(struct fetcher *fetcher,
                         const struct fetch_from *from,
                         const void **out_data) STATUS_USED;
void fetcher_unmap(struct fetcher *fetcher, const struct fetch_from *from);

// Notes that a call has written what `blob` holds, which is shared from now on.
tapml_status
fetcher_note(struct fetcher *fetcher, const struct fetch_from *from, struct blob *blob) STATUS_USED;

// Forgets what was noted of a buffer, NULL: of all.
void fetcher_forget(struct fetcher *fetcher, const tapml_object *buffer);
