// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a run has carved, for another one of equal key: whole prompts with their calls and cases,
// and no word of targets. The key is a digest of all that decides over the cases: model, how its
// weights are kept, prompts, lengths, groups and source, and the version of stores.
//
// One thread, that of the stores. Failures are those of the stores, and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>

struct run_config;
struct store;

// Notes the key of a run in its store, which has the metadata of the run, as CARVED_COPY_KEY.
#define CARVED_COPY_KEY "carving.key"
tapml_status carved_copy_settle_key(struct store *store,
                                    const struct run_config *config,
                                    char out_key[HASH_TEXT]) STATUS_USED;

// Copies these prompts, or all if `prompts` is NULL, as far as they were carved to their end, to a
// store in a file that nobody changes any more: `path` is replaced if it is there, and what an
// earlier try has left beside it. It has no log.
tapml_status carved_copy_write(struct store *from,
                               const struct hash *prompts,
                               size_t count,
                               const char *path) STATUS_USED;
