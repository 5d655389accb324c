// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A tokenizer.json: normalizer, pre-tokenizer, model, post-processor, decoder and added tokens.
#pragma once

#include "base/status.h"
#include "tokenizer/listing.h"
#include "tokenizer/parts.h"

#include <jansson.h>
#include <stddef.h>

// Reads all of `root` into empty parts, which the caller releases, after a failure too. `listing`
// has the members that `root` lacks, or is NULL. What is not known and could change an id or a text
// is refused by name.
tapml_status description_read(const json_t *root,
                              const struct listing *listing,
                              struct parts *parts) STATUS_USED;

// Reads the text of a file.
tapml_status description_parse(const char *text, size_t size, struct parts *parts) STATUS_USED;
