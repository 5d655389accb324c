// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Regular expressions over UTF-8 text, by PCRE2.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct pattern;

// The work that searches may do: a budget for all the texts of one call, so that an expression that
// explodes ends in a sentence. A step is a part of the expression that is tried, or a character
// that is passed over; each text adds its share.
enum { PATTERN_STEPS = 1 << 26, PATTERN_STEPS_PER_BYTE = 256 };

// The beginning of a match that is not there.
#define PATTERN_NONE SIZE_MAX

// Compiles an expression of this program; TAPML_INTERNAL if it is wrong. The caller owns the
// result, which is constant: several threads may search with it.
tapml_status pattern_create(const char *expression, struct pattern **out_pattern) STATUS_USED;

// Compiles an expression of a file, which is written for Oniguruma (expression.h); `^` and `$` are
// those of a line. TAPML_INVALID if it is wrong or too large. Otherwise as `pattern_create`.
tapml_status pattern_create_foreign(const char *name,
                                    const char *expression,
                                    struct pattern **out_pattern) STATUS_USED;

// NULL is allowed.
void pattern_destroy(struct pattern *pattern);

// A search for consecutive matches in a text. `text` is UTF-8 and outlives the search. Several
// searches may use one pattern at the same time.
struct pattern_search {
    const struct pattern *pattern;
    void *match;   // PCRE2's.
    void *context; // PCRE2's.
    int64_t steps; // That are left of the budget.
    size_t last;   // Where the last step was.
    const char *text;
    size_t length;
    size_t at;
    size_t matched; // Where the last match ends; PATTERN_NONE: there was none.
};

// Prepares a search with `pattern`, which must outlive it; `pattern_search_start` sets the text.
// The search must stay where it is in memory until its release.
tapml_status pattern_search_init(struct pattern_search *search,
                                 const struct pattern *pattern) STATUS_USED;

// Frees the memory. A zeroed search is allowed.
void pattern_search_release(struct pattern_search *search);

// Starts again, at the beginning of `length` bytes of UTF-8.
void pattern_search_start(struct pattern_search *search, const char *text, size_t length);

// Finds the next match: bytes begin .. end - 1. It may be empty, but not right behind the match
// before it. If there is none, `*out_begin` is PATTERN_NONE. TAPML_INVALID where an expression of a
// file has used up its steps or its memory.
tapml_status
pattern_search_next(struct pattern_search *search, size_t *out_begin, size_t *out_end) STATUS_USED;
