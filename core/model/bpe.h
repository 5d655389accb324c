// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Byte pair encoding over bytes: the "model" of a byte-level tokenizer.json.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "model/ids.h"

#include <jansson.h>

struct bpe;

// Reads the vocabulary and the merges of `model`; `name` is the file's, for messages. What would
// change an id and is not known is refused by name. The caller owns the result.
tapml_status bpe_create(const char *name, const json_t *model, struct bpe **out_bpe) STATUS_USED;
void bpe_destroy(struct bpe *bpe);

// The bytes of token `id`, or NULL.
const char *bpe_bytes(const struct bpe *bpe, int32_t id, size_t *out_length);

// Room that one encoding after another uses.
struct bpe_work {
    struct bpe_symbol *symbols;
    struct bpe_candidate *heap;
    size_t capacity; // Bytes of a piece that there is room for.
    struct text spelling;
};

void bpe_work_init(struct bpe_work *work);
void bpe_work_release(struct bpe_work *work);

// Appends the ids of a piece of text: the pair of lowest rank is merged first, the leftmost on
// ties. A piece of n bytes takes time n log n. Bytes that the vocabulary lacks are left out.
tapml_status bpe_encode(const struct bpe *bpe,
                        struct bpe_work *work,
                        const char *piece,
                        size_t length,
                        struct ids *out_ids) STATUS_USED;
