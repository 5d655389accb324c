// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A list of pieces of text, one behind the other in one buffer. It belongs to one thread at a time.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

struct pieces {
    struct text text;
    size_t *ends; // Where each piece ends in `text`.
    size_t count;
    size_t capacity;
    int begins; // Whether the first piece begins the whole input.
};

// Makes an empty list, without an allocation.
void pieces_init(struct pieces *pieces);

// Frees the memory.
void pieces_release(struct pieces *pieces);

// Removes all pieces and keeps the memory.
void pieces_clear(struct pieces *pieces);

// Ends a piece: what was appended to `text` since the last one. An empty piece is not added.
tapml_status pieces_end(struct pieces *pieces) STATUS_USED;

// Adds a copy of a piece.
tapml_status pieces_add(struct pieces *pieces, const char *piece, size_t length) STATUS_USED;

// Returns piece `index`, which exists, until the next piece is added.
const char *pieces_get(const struct pieces *pieces, size_t index, size_t *out_length);
