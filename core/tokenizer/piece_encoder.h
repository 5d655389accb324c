// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The "model" of a tokenizer, whatever its kind: a piece of text becomes ids. Such a model is
// constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"
#include "tokenizer/ids.h"
#include "tokenizer/merging.h"

#include <stddef.h>

// Memory that consecutive pieces of one thread reuse.
struct piece_work {
    struct merging merging;
    struct lattice_node *nodes; // unigram.h
    size_t node_capacity;
};

// Makes an empty work, without an allocation. A zeroed one is empty too.
void piece_encoder_work_init(struct piece_work *work);

// Frees the memory.
void piece_encoder_work_release(struct piece_work *work);

struct piece_encoder_type {
    // Appends the ids of a piece, which is not empty. TAPML_INVALID if the model has no token for
    // it.
    tapml_status (*encode)(const void *model,
                           struct piece_work *work,
                           const char *piece,
                           size_t length,
                           struct ids *out_ids);
    // Frees the model; NULL is allowed.
    void (*destroy)(void *model);
};

struct piece_encoder {
    const struct piece_encoder_type *type; // NULL: none
    void *model;
};

// Destroys the model. An encoder without a type is allowed.
void piece_encoder_release(struct piece_encoder *encoder);
