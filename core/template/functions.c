// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/functions.h"

#include "template/spelling.h"

#include <string.h>
#include <time.h>

enum { RANGE_MAX = 100000, TIME_BYTES = 256 }; // Jinja's own sandbox has this range.

struct function_call {
    struct budget *budget;
    const struct arguments *arguments;
    int64_t now;
};

static tapml_status read_range(const struct arguments *arguments, int64_t bounds[3])
{
    const size_t count = arguments->count;
    bounds[0] = 0;
    bounds[2] = 1;
    if (count < 1 || count > 3 || arguments->keyword_count > 0) {
        return status_fail(TAPML_INVALID, "'range' takes one to three integers");
    }
    for (size_t i = 0; i < count; ++i) {
        int64_t *bound = &bounds[count == 1 ? 1 : i];
        if (arguments->items[i].kind != DATUM_INTEGER && arguments->items[i].kind != DATUM_BOOL) {
            return status_fail(TAPML_INVALID, "'range' expects integers, found %s",
                               datum_kind_name(&arguments->items[i]));
        }
        *bound = arguments->items[i].integer;
        if (*bound > INT32_MAX || *bound < INT32_MIN) {
            return status_fail(TAPML_INVALID, "'range' expects integers of 32 bits");
        }
    }
    return bounds[2] != 0 ? TAPML_OK
                          : status_fail(TAPML_INVALID, "'range' expects another step than 0");
}

static tapml_status function_range(const struct function_call *call, struct datum *out)
{
    int64_t bounds[3];
    struct datum *items = NULL;
    TAPML_TRY(read_range(call->arguments, bounds));
    const int64_t step = bounds[2];
    const int64_t distance = step > 0 ? bounds[1] - bounds[0] : bounds[0] - bounds[1];
    const int64_t stride = step > 0 ? step : -step;
    const int64_t count = distance > 0 ? (distance + stride - 1) / stride : 0;
    if (count > RANGE_MAX) {
        return status_fail(TAPML_INVALID, "'range' has at most %d items, found %lld", RANGE_MAX,
                           (long long)count);
    }
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, (size_t)count, &items, out));
    for (int64_t i = 0; i < count; ++i) {
        items[i] = datum_integer(bounds[0] + i * step);
    }
    return TAPML_OK;
}

// Sets the members of a map, and the arguments with names, as members.
static tapml_status
fill_map(const struct function_call *call, const char *name, const struct datum *map)
{
    const struct arguments *arguments = call->arguments;
    if (arguments->count > 1 || (arguments->count == 1 && arguments->items[0].kind != DATUM_MAP)) {
        return status_fail(TAPML_INVALID, "'%s' takes a map and arguments with names", name);
    }
    for (size_t i = 0; arguments->count > 0 && i < arguments->items[0].map->count; ++i) {
        const struct datum_member *member = &arguments->items[0].map->members[i];
        TAPML_TRY(datum_set(call->budget, map, &member->key, &member->value));
    }
    for (size_t i = 0; i < arguments->keyword_count; ++i) {
        const struct datum key = datum_word(arguments->keywords[i].name);
        TAPML_TRY(datum_set(call->budget, map, &key, &arguments->keywords[i].value));
    }
    return TAPML_OK;
}

static tapml_status function_namespace(const struct function_call *call, struct datum *out)
{
    TAPML_TRY(datum_make_map(call->budget, DATUM_NAMESPACE, out));
    return fill_map(call, "namespace", out);
}

static tapml_status function_dict(const struct function_call *call, struct datum *out)
{
    TAPML_TRY(datum_make_map(call->budget, DATUM_MAP, out));
    return fill_map(call, "dict", out);
}

static tapml_status function_raise_exception(const struct function_call *call, struct datum *out)
{
    static const char *const names[] = {"message", NULL};
    struct datum message;
    TAPML_TRY(arguments_bind(call->arguments, "raise_exception", names, &message));
    TAPML_TRY(spelling_of(call->budget, &message, out));
    return status_fail(TAPML_INVALID, "the template refuses the messages: %.*s",
                       (int)(out->text.length < 400 ? out->text.length : 400), out->text.bytes);
}

static tapml_status function_strftime_now(const struct function_call *call, struct datum *out)
{
    static const char *const names[] = {"format", NULL};
    const time_t now = (time_t)call->now;
    struct datum format;
    struct tm local;
    char text[TIME_BYTES] = "";
    TAPML_TRY(arguments_bind(call->arguments, "strftime_now", names, &format));
    TAPML_TRY(arguments_text("strftime_now", &format, NULL, &format));
    if (format.text.length >= TIME_BYTES / 4 || !localtime_r(&now, &local)) {
        return status_fail(TAPML_INVALID, "'strftime_now' expects a short format");
    }
    char copy[TIME_BYTES / 4];
    memcpy(copy, format.text.bytes, format.text.length);
    copy[format.text.length] = '\0';
    const size_t length = strftime(text, sizeof(text), copy, &local);
    return datum_copy_text(call->budget, text, length, out);
}

static const struct {
    const char *name;
    tapml_status (*call)(const struct function_call *call, struct datum *out);
} functions[] = {
    {"range", function_range},
    {"namespace", function_namespace},
    {"dict", function_dict},
    {"raise_exception", function_raise_exception},
    {"strftime_now", function_strftime_now},
};

enum { FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0]) };

const char *functions_find(const char *name)
{
    for (int i = 0; i < FUNCTION_COUNT; ++i) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].name;
        }
    }
    return NULL;
}

tapml_status functions_call(struct budget *budget,
                            const char *name,
                            const struct arguments *arguments,
                            int64_t now,
                            struct datum *out_value)
{
    const struct function_call call = {budget, arguments, now};
    for (int i = 0; i < FUNCTION_COUNT; ++i) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].call(&call, out_value);
        }
    }
    return status_fail(TAPML_INVALID, "the function '%.100s' is unsupported", name);
}
