// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Functions on texts that filters and methods share: Python's strip, split, replace, cases.
#pragma once

#include "template/datum.h"

// Which ends of a text are stripped.
enum strings_side { STRINGS_LEFT = 1, STRINGS_RIGHT = 2, STRINGS_BOTH = 3 };

// A text without the white space, or the characters of `set` unless it is NULL, at its ends.
tapml_status strings_strip(struct budget *budget,
                           const struct datum *text,
                           const struct datum *set,
                           enum strings_side side,
                           struct datum *out_text) STATUS_USED;

// Python's replace; all occurrences if `limit` is negative.
tapml_status strings_replace(struct budget *budget,
                             const struct datum *text,
                             const struct datum *old,
                             const struct datum *fresh,
                             int64_t limit,
                             struct datum *out_text) STATUS_USED;

// Python's split, at runs of white space if `separator` is NULL; at most `limit` times, from the
// right end if `from_right`, if `limit` is not negative.
tapml_status strings_split(struct budget *budget,
                           const struct datum *text,
                           const struct datum *separator,
                           int64_t limit,
                           int from_right,
                           struct datum *out_list) STATUS_USED;

// The lines of a text, without their ends.
tapml_status
strings_lines(struct budget *budget, const struct datum *text, struct datum *out_list) STATUS_USED;

// Python's upper, lower, capitalize and title, and the filter `title`, which counts an apostrophe
// as a letter. TAPML_INVALID for letters beyond ASCII.
enum strings_case { STRINGS_UPPER, STRINGS_LOWER, STRINGS_CAPITAL, STRINGS_TITLE, STRINGS_WORDS };

tapml_status strings_set_case(struct budget *budget,
                              const struct datum *text,
                              enum strings_case letters,
                              struct datum *out_text) STATUS_USED;

// The texts of a list, each as it is printed, with `between` between them.
tapml_status strings_join(struct budget *budget,
                          const struct datum_list *list,
                          const struct datum *between,
                          struct datum *out_text) STATUS_USED;
