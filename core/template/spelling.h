// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How a datum is written: as `str`, as `repr`, and as JSON.
#pragma once

#include "base/text.h"
#include "template/datum.h"

// Appends what {{ datum }} prints: a text as it is, nothing where undefined, else Python's repr.
tapml_status spelling_append(struct budget *budget,
                             const struct datum *datum,
                             struct text *out_text) STATUS_USED;

// Makes a datum of what was written to `text`, unless `status` is a failure, which is returned. The
// text is released.
tapml_status spelling_take(struct budget *budget,
                           tapml_status status,
                           struct text *text,
                           struct datum *out_text) STATUS_USED;

// What spelling_append appends, as a datum.
tapml_status
spelling_of(struct budget *budget, const struct datum *datum, struct datum *out_text) STATUS_USED;

struct spelling_json {
    int is_ascii;               // Other characters are escaped.
    int sorts_keys;             // Else the order of their first assignment.
    int indent;                 // Blanks a level; -1: all on one line.
    const char *item_separator; // NULL: ", ", or "," with indent.
    const char *key_separator;  // NULL: ": ".
};

// As Python's json.dumps; TAPML_INVALID for what JSON has not.
tapml_status spelling_of_json(struct budget *budget,
                              const struct datum *datum,
                              const struct spelling_json *options,
                              struct datum *out_text) STATUS_USED;
