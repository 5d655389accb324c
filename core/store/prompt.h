// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `prompt`: the prompts that were carved, or have begun to be.
//
// One thread. Failures are those of the store, which name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stdint.h>

struct arena;
struct store;

// A prompt that was carved to its end.
struct carved_prompt {
    struct hash hash; // Of all that was fed: its id.
    int64_t index;    // In the prompts file, from 0.
    const char *text;
    const int32_t *ids;
    int64_t id_count;
    const int32_t *greedy; // What the source chose.
    int64_t greedy_count;
};

// Writes a prompt, in place of one that has begun.
tapml_status prompt_add(struct store *store, const struct carved_prompt *prompt) STATUS_USED;

// Writes a row for a prompt that has begun, if it has none: cases and calls refer to it.
tapml_status prompt_begin(struct store *store, struct hash prompt) STATUS_USED;

// Whether a prompt was carved to its end; 0 also if that cannot be read.
int prompt_is_carved(struct store *store, struct hash prompt);

// The index in the prompts file of a prompt that was carved to its end, from 0; -1: it was not.
int64_t prompt_index(struct store *store, struct hash prompt);

// The prompts that were carved to their end, as they stand in the prompts file; in `arena`.
tapml_status prompt_list_carved(struct store *store,
                                struct arena *arena,
                                struct hash **out_prompts,
                                size_t *out_count) STATUS_USED;

// The greedy ids of a prompt, freed by `alloc_free`. TAPML_NOT_FOUND if it was not carved to its
// end.
tapml_status prompt_greedy(struct store *store,
                           struct hash prompt,
                           int32_t **out_ids,
                           int64_t *out_count) STATUS_USED;
