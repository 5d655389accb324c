// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the evaluation callback of ggml's programs prints: for each tensor a line
//
//     common_debug_cb_eval:  norm-0 = (f32)  RMS_NORM(embd{64, 19, 1, 1}, }) = {64, 19, 1, 1}
//
// with name, type, op, up to two sources and extents, the fastest first; then some of its values
// in brackets, with "..." where others are left out, and the sum of all. Other lines are skipped.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct dump;

// Adds the tensors of a text in its order. Extents become a shape, the slowest axis first, without
// the axes of 1 before it. TAPML_INVALID names the line: it shows more values than there are.
tapml_status
callback_text_add(struct dump *dump, const char *name, const char *text, size_t size) STATUS_USED;
