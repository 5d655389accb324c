// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/list.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void list_print(struct text *out_text, const int64_t *values, size_t count)
{
    text_append(out_text, "[");
    for (size_t i = 0; i < count; i++) {
        text_format(out_text, "%s%" PRId64, i > 0 ? "," : "", values[i]);
    }
    text_append(out_text, "]");
}

void list_print_i32(struct text *out_text, const int32_t *values, size_t count)
{
    text_append(out_text, "[");
    for (size_t i = 0; i < count; i++) {
        text_format(out_text, "%s%" PRId32, i > 0 ? "," : "", values[i]);
    }
    text_append(out_text, "]");
}

static tapml_status list_fail(const char *text)
{
    return status_fail(TAPML_INVALID, "'%.60s' is no list of whole numbers", text);
}

// Reads the number at `*at` and what ends it. `*out_is_last` is set behind the last one.
static tapml_status parse_item(const char *text, const char **at, int64_t *out, int *out_is_last)
{
    if (!isdigit((unsigned char)**at) && **at != '-') {
        return list_fail(text);
    }
    char *end = NULL;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    if (errno != 0 || end == *at || (*end != ',' && *end != ']')) {
        return list_fail(text);
    }
    *out_is_last = *end == ']';
    *at = end + 1;
    return TAPML_OK;
}

tapml_status list_parse(const char *text, int64_t *out_values, size_t count_max, size_t *out_count)
{
    const char *at = text + 1;
    int is_last = text[0] == '[' && text[1] == ']';
    size_t count = 0;
    if (text[0] != '[') {
        return list_fail(text);
    }
    at += is_last;
    while (!is_last) {
        int64_t value = 0;
        TAPML_TRY(parse_item(text, &at, &value, &is_last));
        if (count == count_max) {
            return status_fail(TAPML_INVALID, "'%.60s' has more than %zu numbers", text, count_max);
        }
        out_values[count++] = value;
    }
    if (*at != 0) {
        return list_fail(text);
    }
    *out_count = count;
    return TAPML_OK;
}

// An upper bound: a number more than there are commas.
static size_t bound_of(const char *text)
{
    size_t bound = 1;
    for (const char *at = text; *at != 0; at++) {
        bound += *at == ',';
    }
    return bound;
}

tapml_status list_parse_i32(const char *text, int32_t **out_values, size_t *out_count)
{
    const size_t bound = bound_of(text);
    int64_t *wide = alloc_array(bound, sizeof(*wide));
    int32_t *values = alloc_array(bound, sizeof(*values));
    size_t count = 0;
    tapml_status status =
        wide && values ? list_parse(text, wide, bound, &count) : status_no_memory();
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        if (wide[i] < INT32_MIN || wide[i] > INT32_MAX) {
            status = status_fail(TAPML_INVALID, "%" PRId64 " is no 32-bit number", wide[i]);
        } else {
            values[i] = (int32_t)wide[i];
        }
    }
    alloc_free(wide);
    if (status != TAPML_OK) {
        alloc_free(values);
        return status;
    }
    *out_values = values;
    *out_count = count;
    return TAPML_OK;
}
