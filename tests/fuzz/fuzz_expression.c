// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tokenizer/expression and tokenizer/pattern: the bytes up to the first zero are an expression of a
// file, those behind it a text in which it is searched for.
#include "fuzz.h"

#include "base/utf8.h"
#include "tokenizer/pattern.h"

#include <string.h>

enum { EXPRESSION_MAX = 4096 };

static const char sample[] = " Once aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax \xc3\xa9\n\n 123";

static void search_all(const struct pattern *pattern, const char *text, size_t length)
{
    struct pattern_search search;
    size_t done = 0;
    FUZZ_CHECK(pattern_search_init(&search, pattern) == TAPML_OK);
    pattern_search_start(&search, text, length);
    for (size_t count = 0;; ++count) {
        size_t begin = 0;
        size_t end = 0;
        if (fuzz_refused(pattern_search_next(&search, &begin, &end)) || begin == PATTERN_NONE) {
            break;
        }
        FUZZ_CHECK(begin >= done && begin <= end && end <= length);
        FUZZ_CHECK(count <= length); // Each but one passes over a character.
        done = end;
    }
    pattern_search_release(&search);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char expression[EXPRESSION_MAX + 1] = "";
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    const size_t length = end ? (size_t)(end - data) : size;
    struct pattern *pattern = NULL;
    if (length > EXPRESSION_MAX || !utf8_is_valid(data, size)) {
        return 0; // A file is UTF-8, and so is a text.
    }
    memcpy(expression, data, length);
    fuzz_begin();
    if (!fuzz_refused(pattern_create_foreign("fuzz", expression, &pattern))) {
        search_all(pattern, sample, sizeof(sample) - 1);
        if (end) {
            search_all(pattern, (const char *)end + 1, size - length - 1);
        }
        pattern_destroy(pattern);
    }
    fuzz_end();
    return 0;
}
