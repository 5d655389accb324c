// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The "pre_tokenizer" of a tokenizer: what cuts a normalized text into pieces, each of which is
// encoded for itself. The object is constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"
#include "tokenizer/pieces.h"

#include <jansson.h>
#include <stddef.h>

struct splitter;

// Reads `value`, the "pre_tokenizer" of a tokenizer.json, which may be NULL or null; messages use
// `name` for the file. A kind that is not known is refused by name. The caller owns the result.
tapml_status
splitter_create(const char *name, const json_t *value, struct splitter **out_splitter) STATUS_USED;

// Makes a splitter by one expression: its matches and what lies between them are the pieces.
tapml_status splitter_create_pattern(const char *name,
                                     const char *expression,
                                     struct splitter **out_splitter) STATUS_USED;

// NULL is allowed.
void splitter_destroy(struct splitter *splitter);

// Memory that consecutive texts of one thread reuse.
struct splitter_work;

// The caller owns the work. `splitter` outlives it.
tapml_status splitter_work_create(const struct splitter *splitter,
                                  struct splitter_work **out_work) STATUS_USED;

// NULL is allowed.
void splitter_work_destroy(struct splitter_work *work);

// Cuts a well-formed text; `begins` says whether it begins the whole input. The pieces belong to
// `work` until the next call.
tapml_status splitter_apply(struct splitter_work *work,
                            const char *text,
                            size_t length,
                            int begins,
                            const struct pieces **out_pieces) STATUS_USED;
