// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tokens of a model by their spelling and by their id. A spelling is any bytes. The object is
// constant once `vocabulary_finish` has returned: several threads may use it.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { VOCABULARY_NONE = -1, VOCABULARY_BYTES_MAX = 4096 };

struct vocabulary_token {
    const char *bytes; // With a zero byte behind them.
    uint32_t length;
    int32_t id;
};

struct vocabulary;

// Makes an empty vocabulary; messages use `name` for the file. The caller owns it.
tapml_status vocabulary_create(const char *name, struct vocabulary **out_vocabulary) STATUS_USED;

// NULL is allowed.
void vocabulary_destroy(struct vocabulary *vocabulary);

// Adds a token. Of equal spellings the one of the lowest id is found. TAPML_INVALID for a spelling
// longer than VOCABULARY_BYTES_MAX and for an id that is not one of 31 bits.
tapml_status vocabulary_add(struct vocabulary *vocabulary,
                            const char *bytes,
                            size_t length,
                            int64_t id) STATUS_USED;

// Adds all members of an object {"spelling": id}.
tapml_status vocabulary_add_object(struct vocabulary *vocabulary, const json_t *object) STATUS_USED;

// Ends the additions. TAPML_INVALID where two tokens have one id, or there is no token.
tapml_status vocabulary_finish(struct vocabulary *vocabulary) STATUS_USED;

// Returns the id of a spelling, or VOCABULARY_NONE.
int32_t vocabulary_find(const struct vocabulary *vocabulary, const char *bytes, size_t length);

// As vocabulary_find, for a text that ends with a zero byte.
int32_t vocabulary_find_text(const struct vocabulary *vocabulary, const char *text);

// Returns the token of an id, or NULL. Only after vocabulary_finish.
const struct vocabulary_token *vocabulary_get(const struct vocabulary *vocabulary, int32_t id);

// All tokens, by id. Only after vocabulary_finish.
const struct vocabulary_token *vocabulary_all(const struct vocabulary *vocabulary,
                                              size_t *out_count);

// Returns the ids of <0x00> .. <0xFF>, or NULL if the vocabulary lacks one of them.
const int32_t *vocabulary_byte_ids(const struct vocabulary *vocabulary);
