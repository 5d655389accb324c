// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Prints a text while its tokens come.
//
// One thread. Failures are TAPML_NO_MEMORY, TAPML_INVALID for an id that the tokenizer does not
// have, and TAPML_UNAVAILABLE if the file cannot be written.
#pragma once

#include "tokenizer/tokenizer.h"

#include <stdio.h>

struct text_printer;

// Prints to `file`, or the ids themselves if `tokenizer` is NULL. Both outlive the printer, which
// the caller owns.
tapml_status text_printer_create(const struct tokenizer *tokenizer,
                                 FILE *file,
                                 struct text_printer **out_printer) STATUS_USED;
void text_printer_destroy(struct text_printer *printer);

// Prints what is known of the text with `count` more tokens, and flushes. Special tokens are left
// out, an incomplete character is held back.
tapml_status
text_printer_add(struct text_printer *printer, const int32_t *ids, size_t count) STATUS_USED;

// Prints what was held back and an end of line, unless nothing was added.
tapml_status text_printer_end(struct text_printer *printer) STATUS_USED;
