// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Pages of mapped files on their way into memory: a thread that touches them before they are read.
//
// It takes one piece of work after the other. What comes of it is never needed for a result: a page
// that is not there when it is read is fetched by the reader.
//
// The functions belong to one thread, but for the work itself. TAPML_NO_MEMORY and
// TAPML_UNAVAILABLE (no thread) are the failures. Sizes are bytes.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct prefetch;

struct prefetch_span {
    const unsigned char *data;
    uint64_t bytes;
};

// `bytes_per_s` is the most that it fetches, as over a link of that speed; 0: any. The caller
// destroys it, which waits for the piece at hand and drops the others; NULL is allowed.
tapml_status prefetch_create(uint64_t bytes_per_s, struct prefetch **out_prefetch) STATUS_USED;
void prefetch_destroy(struct prefetch *prefetch);

// Adds a piece of work behind the others: spans, which are borrowed until it is done. Returns its
// number, counted from 1.
tapml_status prefetch_ask(struct prefetch *prefetch,
                          const struct prefetch_span *spans,
                          size_t count,
                          uint64_t *out_number) STATUS_USED;

// Whether a piece and all before it are done; waits until they are.
int prefetch_is_done(struct prefetch *prefetch, uint64_t number);
void prefetch_wait(struct prefetch *prefetch, uint64_t number);

// Drops what has not begun, and waits for the piece at hand: all count as done.
void prefetch_drop(struct prefetch *prefetch);
