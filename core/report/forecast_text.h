// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A forecast as text for the terminal: the verdict first, then memory and time, then the ops.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends the sentence of a document (report/forecast_data.h) behind the name of its device,
// without a line break; and a line each for memory and the times.
void forecast_text_print_verdict(const json_t *document, struct text *out);
void forecast_text_print_sizes(const json_t *document, struct text *out);

// Appends all of a document. Ops of one kind are a line, with the number of instances and the first
// of them.
void forecast_text_print(const json_t *document, struct text *out);
