// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Lists of tokens with ranks: *.tiktoken, a line for each with its bytes in base64 and its rank,
// and tekken.json, the same as JSON.
#pragma once

#include "base/status.h"
#include "tokenizer/parts.h"

#include <stddef.h>

// The expression that cuts a text, which the lines do not have.
enum tiktoken_words { TIKTOKEN_CL100K, TIKTOKEN_QWEN, TIKTOKEN_KIMI };

// Reads a *.tiktoken into empty parts, which the caller releases, after a failure too.
tapml_status tiktoken_read(const char *text,
                           size_t size,
                           enum tiktoken_words words,
                           struct parts *parts) STATUS_USED;

// Reads a tekken.json into empty parts, which the caller releases, after a failure too.
tapml_status tiktoken_read_tekken(const char *text, size_t size, struct parts *parts) STATUS_USED;
