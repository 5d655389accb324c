// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The vocabulary file of RWKV's "world" models: a line for each token with its id, its bytes as a
// literal of Python and their number. A text is cut greedily into the longest tokens.
#pragma once

#include "base/status.h"
#include "tokenizer/parts.h"

#include <stddef.h>

// Reads a file into empty parts, which the caller releases, after a failure too. TAPML_INVALID
// names the line that is wrong.
tapml_status rwkv_read(const char *text, size_t size, struct parts *parts) STATUS_USED;
