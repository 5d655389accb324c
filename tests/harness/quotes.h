// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// JSON in single quotes, for the sake of those who read a test.
#pragma once

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>

// The value of `text`, in which each single quote means a double one. The caller owns it.
static inline json_t *quotes_json(const char *text)
{
    char quoted[8192];
    const int length = snprintf(quoted, sizeof(quoted), "%s", text);
    cr_assert_lt((size_t)length, sizeof(quoted));
    for (char *at = quoted; *at; ++at) {
        *at = *at == '\'' ? '"' : *at;
    }
    json_t *value = json_loads(quoted, JSON_DECODE_ANY, NULL);
    cr_assert_not_null(value, "%s", quoted);
    return value;
}
