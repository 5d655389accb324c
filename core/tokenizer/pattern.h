// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Regular expressions over UTF-8 text, by PCRE2.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct pattern;

// Compiles an expression of this program; TAPML_INTERNAL if it is wrong. The caller owns the
// result, which is constant: several threads may search with it.
tapml_status pattern_create(const char *expression, struct pattern **out_pattern) STATUS_USED;

// NULL is allowed.
void pattern_destroy(struct pattern *pattern);

// A search for consecutive matches in a text. `text` is UTF-8 and outlives the search. Several
// searches may use one pattern at the same time.
struct pattern_search {
    const struct pattern *pattern;
    void *match; // PCRE2's.
    const char *text;
    size_t length;
    size_t at;
};

// Prepares a search with `pattern`, which must outlive it; `pattern_search_start` sets the text.
tapml_status pattern_search_init(struct pattern_search *search,
                                 const struct pattern *pattern) STATUS_USED;

// Frees the memory. A zeroed search is allowed.
void pattern_search_release(struct pattern_search *search);

// Starts again, at the beginning of `length` bytes of UTF-8.
void pattern_search_start(struct pattern_search *search, const char *text, size_t length);

// Finds the next match that is not empty: bytes begin .. end - 1. If there is none, both are the
// text's length.
tapml_status
pattern_search_next(struct pattern_search *search, size_t *out_begin, size_t *out_end) STATUS_USED;
