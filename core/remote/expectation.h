// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a host expects to read of another machine, as hashes of blocks: of a block that has the hash
// no bytes come back. A hash has 64 bits, so that in a run of 10^9 blocks a wrong one passes for
// the right one with a chance of 10^-10. Any thread.
#pragma once

#include "base/status.h"

#include <tapml/wire/wire.h>

#include <stddef.h>
#include <stdint.h>

enum {
    EXPECTATION_BLOCK_BYTES = 1024,
    EXPECTATION_BYTES_MAX = 1 << 26 // Of what is read at once.
};

struct expectation {
    uint32_t number; // Of the region that is read into,
    uint64_t offset, bytes;
    uint64_t *hashes; // Of each block; the last one may be shorter. NULL: nothing is expected.
};

void expectation_release(struct expectation *expectation);

// Appends the message about the span of `bytes` whose content is expected to be as in `memory`.
// `hashes` is not read. The writer keeps a lack of memory.
void expectation_put(struct wire_writer *writer,
                     const struct expectation *expectation,
                     const void *memory);

// Reads it. TAPML_INVALID if it is malformed. `expectation_release` frees what comes out.
tapml_status expectation_take(const struct wire_frame *frame,
                              struct expectation *out_expectation) STATUS_USED;

// How many of the `bytes` in `memory`, which are those from block `block` on, are as expected, or
// are not, all of them: whole blocks, but for the last one. `*out_is_same` says which.
uint32_t expectation_run(const uint64_t *hashes,
                         uint64_t block,
                         const unsigned char *memory,
                         uint32_t bytes,
                         int *out_is_same);
