// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Byte pair encoding over bytes: the "model" of a byte-level tokenizer.json.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/ids.h"

#include <jansson.h>

struct bpe;

// Reads the vocabulary and the merges of `model`; messages use `name` for the file. An unknown key
// that could change an id is refused by name. The caller owns the result, which is constant:
// several threads may use it.
tapml_status bpe_create(const char *name, const json_t *model, struct bpe **out_bpe) STATUS_USED;

// NULL is allowed.
void bpe_destroy(struct bpe *bpe);

// Returns the bytes of token `id`, or NULL; they live as long as `bpe`.
const char *bpe_bytes(const struct bpe *bpe, int32_t id, size_t *out_length);

// Memory that consecutive encodings of one thread reuse.
struct bpe_work {
    struct bpe_symbol *symbols;
    struct bpe_candidate *heap;
    size_t capacity; // The longest piece, in bytes, for which there is room.
    struct text spelling;
};

// Makes an empty work, without an allocation.
void bpe_work_init(struct bpe_work *work);

// Frees the memory.
void bpe_work_release(struct bpe_work *work);

// Appends the ids of a piece of text: the pair of the lowest rank is merged first, the leftmost of
// equal ones. A piece of n bytes takes n log n steps. Bytes that are not in the vocabulary are
// skipped.
tapml_status bpe_encode(const struct bpe *bpe,
                        struct bpe_work *work,
                        const char *piece,
                        size_t length,
                        struct ids *out_ids) STATUS_USED;
