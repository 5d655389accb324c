// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Lists of tokens with ranks: *.tiktoken, a line for each with its bytes in base64 and its rank,
// and tekken.json, the same as JSON.
#pragma once

#include "base/status.h"
#include "tokenizer/parts.h"

#include <stddef.h>

// Reads a *.tiktoken into empty parts, which the caller releases, after a failure too. The
// expression that cuts a text is that of Qwen if `is_qwen`, else cl100k's: the file has none.
tapml_status
tiktoken_read(const char *text, size_t size, int is_qwen, struct parts *parts) STATUS_USED;

// Reads a tekken.json into empty parts, which the caller releases, after a failure too.
tapml_status tiktoken_read_tekken(const char *text, size_t size, struct parts *parts) STATUS_USED;
