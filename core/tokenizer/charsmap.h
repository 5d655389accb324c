// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A precompiled map of characters, as SentencePiece stores it: a double array of keys (darts-clone)
// and the texts that stand in their places. Every offset is checked at its use. The object is
// constant after its creation: several threads may use it.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

struct charsmap;

// Takes `size` bytes, which are copied; messages use `name` for the file. The caller owns the
// result.
tapml_status charsmap_create(const char *name,
                             const void *bytes,
                             size_t size,
                             struct charsmap **out_charsmap) STATUS_USED;

// As charsmap_create, for bytes in base64.
tapml_status charsmap_create_base64(const char *name,
                                    const char *encoded,
                                    struct charsmap **out_charsmap) STATUS_USED;

// NULL is allowed.
void charsmap_destroy(struct charsmap *charsmap);

// Appends what stands in the place of the longest key that begins `text`, or else of its first
// character, as SentencePiece does; `length` is not 0. Returns how many bytes that were.
size_t charsmap_apply_next(const struct charsmap *charsmap,
                           const char *text,
                           size_t length,
                           struct text *out);

// The same as the tokenizers library does: a short grapheme is replaced by the text of the shortest
// key that begins it, else each of its characters is.
tapml_status charsmap_apply_graphemes(const struct charsmap *charsmap,
                                      const char *text,
                                      size_t length,
                                      struct text *out) STATUS_USED;
