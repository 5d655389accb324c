// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Regular expressions over UTF-8 text, by PCRE2.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct pattern;

// Compiles an expression of ours; one that is wrong is TAPML_INTERNAL.
tapml_status pattern_create(const char *expression, struct pattern **out_pattern) STATUS_USED;
void pattern_destroy(struct pattern *pattern);

// A search through a text for matches, one after another. `text` is UTF-8 and outlives the search;
// several searches may use one pattern at a time.
struct pattern_search {
    const struct pattern *pattern;
    void *match; // PCRE2's.
    const char *text;
    size_t length;
    size_t at;
};

tapml_status pattern_search_init(struct pattern_search *search,
                                 const struct pattern *pattern) STATUS_USED;
void pattern_search_release(struct pattern_search *search);
void pattern_search_start(struct pattern_search *search, const char *text, size_t length);

// The next match that is not empty: bytes begin .. end - 1. Without one both are the text's length.
tapml_status
pattern_search_next(struct pattern_search *search, size_t *out_begin, size_t *out_end) STATUS_USED;
