// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The model file of SentencePiece (tokenizer.model): pieces with their scores, a BPE or a unigram
// model.
#pragma once

#include "base/status.h"
#include "tokenizer/parts.h"

#include <stddef.h>

// Whether the bytes look like such a file; a list of ranks may have the same name.
int sentencepiece_is(const void *bytes, size_t size);

// Reads `size` bytes into empty parts, which the caller releases, after a failure too. What is not
// known and could change an id is refused by name.
tapml_status sentencepiece_read(const void *bytes, size_t size, struct parts *parts) STATUS_USED;
