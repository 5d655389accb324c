// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/arguments.h"

#include <string.h>

static tapml_status bind_keyword(const struct arguments_keyword *keyword,
                                 const char *function,
                                 const char *const *names,
                                 struct datum *values)
{
    for (size_t i = 0; names[i]; ++i) {
        if (strcmp(names[i], keyword->name) != 0) {
            continue;
        }
        if (values[i].kind != DATUM_UNDEFINED) {
            return status_fail(TAPML_INVALID, "'%.100s' has its argument '%s' twice", function,
                               names[i]);
        }
        values[i] = keyword->value;
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID, "'%.100s' has no argument '%.100s' here", function,
                       keyword->name);
}

tapml_status arguments_bind(const struct arguments *arguments,
                            const char *function,
                            const char *const *names,
                            struct datum *out_values)
{
    size_t count = 0;
    for (; names[count]; ++count) {
        out_values[count] =
            count < arguments->count ? arguments->items[count] : datum_undefined(names[count]);
    }
    if (arguments->count > count) {
        return status_fail(TAPML_INVALID, "'%.100s' takes at most %zu arguments, found %zu",
                           function, count, arguments->count);
    }
    for (size_t i = 0; i < arguments->keyword_count; ++i) {
        TAPML_TRY(bind_keyword(&arguments->keywords[i], function, names, out_values));
    }
    return TAPML_OK;
}

static int is_absent(const struct datum *value)
{
    return value->kind == DATUM_UNDEFINED || value->kind == DATUM_NONE;
}

tapml_status arguments_text(const char *function,
                            const struct datum *value,
                            const char *fallback,
                            struct datum *out_text)
{
    if (is_absent(value) && fallback) {
        *out_text = datum_word(fallback);
        return TAPML_OK;
    }
    if (value->kind != DATUM_TEXT) {
        return status_fail(TAPML_INVALID, "'%s' expects a text, found %s", function,
                           datum_kind_name(value));
    }
    *out_text = *value;
    return TAPML_OK;
}

tapml_status arguments_integer(const char *function,
                               const struct datum *value,
                               int64_t fallback,
                               int64_t *out_integer)
{
    if (is_absent(value)) {
        *out_integer = fallback;
        return TAPML_OK;
    }
    if (value->kind != DATUM_INTEGER && value->kind != DATUM_BOOL) {
        return status_fail(TAPML_INVALID, "'%s' expects an integer, found %s", function,
                           datum_kind_name(value));
    }
    *out_integer = value->integer;
    return TAPML_OK;
}
