// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// All that is wrong with something, a sentence each: what a check gathers where a run stops at the
// first.
#pragma once

#include "base/ini.h"
#include "base/text.h"

struct problems {
    struct text text; // A sentence a line.
    size_t count;
};

void problems_init(struct problems *problems);
void problems_release(struct problems *problems);

void problems_add(struct problems *problems, const char *format, ...) STATUS_PRINTF(2, 3);

// Adds "FILE:LINE: [section] key: ..." of a key that stands in the file.
void problems_refuse(struct problems *problems,
                     const struct ini *ini,
                     const char *section,
                     const char *key,
                     const char *format,
                     ...) STATUS_PRINTF(5, 6);

// Adds the message of a failure; nothing for TAPML_OK.
void problems_take(struct problems *problems, tapml_status status);

// The first as a failure, with how many more there are and `lister`, the option that reports all,
// or NULL; TAPML_OK where there is none.
tapml_status problems_status(const struct problems *problems, const char *lister) STATUS_USED;
