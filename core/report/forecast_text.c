// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/forecast_text.h"

#include "base/utf8.h"
#include "report/report_markup.h"
#include "run/forecast_limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KINDS_OF_A_TIME = 3 };

// "2.6 MB": steps of a thousand.
static void append_scaled(struct text *out, double value, const char *unit)
{
    static const char *const letters[] = {"", "k", "M", "G", "T"};
    size_t step = 0;

    while (value >= 1000 && step + 1 < sizeof(letters) / sizeof(*letters)) {
        value /= 1000;
        step++;
    }
    text_format(out, step > 0 ? "%.1f %s%s" : "%.0f %s%s", value, letters[step], unit);
}

static void append_bytes(struct text *out, const json_t *object, const char *key)
{
    append_scaled(out, (double)report_markup_count(object, key), "B");
}

static void append_seconds(struct text *out, double seconds)
{
    text_format(out,
                seconds >= 1      ? "%.2f s"
                : seconds >= 1e-3 ? "%.2f ms"
                                  : "%.1f us",
                seconds >= 1      ? seconds
                : seconds >= 1e-3 ? seconds * 1e3
                                  : seconds * 1e6);
}

// -- The verdict -------------------------------------------------------------------------------

// "2 ops leave the range of f16; ", if there are any.
static void append_counted(
    struct text *out, const json_t *verdict, const char *key, const char *verb, const char *what)
{
    const int64_t count = report_markup_count(verdict, key);

    if (count > 0) {
        text_format(out, "%" PRId64 " op%s %s%s %s; ", count, count == 1 ? "" : "s", verb,
                    count == 1 ? "s" : "", what);
    }
}

void forecast_text_print_verdict(const json_t *document, struct text *out)
{
    const json_t *verdict = json_object_get(document, "verdict");
    const json_t *memory = json_object_get(document, "memory");
    const json_t *fits = json_object_get(memory, "fits");
    const size_t begin = out->length;

    text_format(out, "%s: ", report_markup_string(json_object_get(document, "device"), "name"));
    const size_t named = out->length;

    append_counted(out, verdict, "leave_f16", "leave", "the range of f16");
    append_counted(out, verdict, "lose_f16", "lose", "precision in f16");
    append_counted(out, verdict, "leave_bf16", "leave", "the range of bf16");
    append_counted(out, verdict, "lose_bf16", "lose", "precision in bf16");
    append_counted(out, verdict, "refused", "exceed", "a limit");
    if (out->length == named) {
        text_append(out, "no op leaves a range or exceeds a limit; ");
    }
    text_append(out, json_is_null(fits)   ? "memory unknown"
                     : json_is_true(fits) ? "the model fits"
                                          : "the model does not fit");
    if (!out->failed) {
        utf8_make_plain(out->data + begin); // The name is a stranger's text.
    }
}

// -- Memory and time ---------------------------------------------------------------------------

static void append_memory(struct text *out, const json_t *document)
{
    const json_t *memory = json_object_get(document, "memory");

    text_append(out, "memory    ");
    append_bytes(out, memory, "weights");
    text_append(out, " of weights, ");
    append_bytes(out, memory, "states");
    text_format(out, " of states (%" PRId64 " tokens), ",
                report_markup_count(document, "capacity"));
    append_bytes(out, memory, "activations");
    text_format(out, " of activations (%s, calls of %" PRId64 " tokens): ",
                report_markup_string(document, "activations"),
                report_markup_count(document, "chunk"));
    append_bytes(out, memory, "all");
    text_append(out, " of ");
    if (json_is_null(json_object_get(memory, "device"))) {
        text_append(out, "an unknown memory");
    } else {
        append_bytes(out, memory, "device");
    }
    text_append(out, "\n");
}

// What the seconds leave out.
static void append_unknown(struct text *out, const json_t *time)
{
    static const char *const keys[] = {"has_bandwidth", "has_rate", "has_launch"};
    static const char *const words[] = {"bandwidth", "rate", "launch"};
    const char *between = "; unknown: ";

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (!json_is_true(json_object_get(time, keys[i]))) {
            text_format(out, "%s%s", between, words[i]);
            between = ", ";
        }
    }
}

static void append_kinds(struct text *out, const json_t *kinds, double seconds)
{
    for (size_t i = 0; i < json_array_size(kinds) && i < KINDS_OF_A_TIME && seconds > 0; i++) {
        const json_t *kind = json_array_get(kinds, i);

        text_format(out, "%s%s %.0f %%", i > 0 ? ", " : "; ", report_markup_string(kind, "op"),
                    100 * report_markup_number(kind, "seconds") / seconds);
    }
}

static void append_time(struct text *out, const json_t *time)
{
    const int is_known = !json_is_null(json_object_get(time, "seconds"));
    const double seconds = is_known ? report_markup_number(time, "seconds") : 0;
    const int64_t tokens = report_markup_count(time, "tokens");

    text_format(out, "%-9s ", report_markup_string(time, "what"));
    if (is_known) {
        text_append(out, "at least ");
        append_seconds(out, seconds);
    } else {
        text_append(out, "unknown");
    }
    text_format(out, " for %" PRId64 " token%s at position %" PRId64 ": ", tokens,
                tokens == 1 ? "" : "s", report_markup_count(time, "position"));
    append_scaled(out, report_markup_number(time, "bytes"), "B");
    text_append(out, ", ");
    append_scaled(out, report_markup_number(time, "operations"), "FLOP");
    text_format(out, ", %" PRId64 " launches", report_markup_count(time, "launches"));
    append_kinds(out, json_object_get(time, "kinds"), seconds);
    append_unknown(out, time);
    text_append(out, "\n");
}

// -- Ops ---------------------------------------------------------------------------------------

static int is_same(const json_t *a, const json_t *b, const char *key)
{
    return strcmp(report_markup_string(a, key), report_markup_string(b, key)) == 0;
}

// Whether an item of a list is the first of those that `key` and the op make one line.
static int is_first(const json_t *list, size_t index, const char *key)
{
    const json_t *item = json_array_get(list, index);

    for (size_t i = 0; i < index; i++) {
        const json_t *other = json_array_get(list, i);

        if (is_same(item, other, key) && is_same(item, other, "op")) {
            return 0;
        }
    }
    return 1;
}

static size_t count_alike(const json_t *list, size_t index, const char *key)
{
    const json_t *item = json_array_get(list, index);
    size_t count = 0;

    for (size_t i = index; i < json_array_size(list); i++) {
        const json_t *other = json_array_get(list, i);

        count += is_same(item, other, key) && is_same(item, other, "op");
    }
    return count;
}

static void append_instances(struct text *out, const json_t *list, size_t index, const char *key)
{
    const json_t *item = json_array_get(list, index);
    const size_t count = count_alike(list, index, key);

    text_format(out, "  %-16s %4zu %s %s", report_markup_string(item, "op"), count,
                count == 1 ? "instance," : "instances, the first",
                report_markup_string(item, "instance"));
}

static void append_range(struct text *out, const json_t *item)
{
    const int64_t values = report_markup_count(item, "values");
    const int64_t beyond = report_markup_count(item, "beyond");

    text_format(out, ": largest %.4g", report_markup_number(item, "largest"));
    if (beyond > 0) {
        text_format(out, ", %" PRId64 " of %" PRId64 " values beyond", beyond, values);
    }
    if (json_is_true(json_object_get(item, "loses"))) {
        text_format(out,
                    ", %" PRId64 " of %" PRId64 " below the normal numbers, %" PRId64
                    " become 0: relative error %.2g",
                    report_markup_count(item, "below"), values, report_markup_count(item, "zeroed"),
                    report_markup_number(item, "worst"));
    }
}

static void append_ranges(struct text *out, const json_t *document)
{
    const json_t *list = json_object_get(document, "ranges");
    const char *type = "";

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        if (strcmp(type, report_markup_string(item, "type")) != 0) {
            type = report_markup_string(item, "type");
            text_format(out, "%s: values beyond its range, or below its normal numbers\n", type);
        }
        if (is_first(list, i, "type")) {
            append_instances(out, list, i, "type");
            append_range(out, item);
            text_append(out, "\n");
        }
    }
}

static const char *meaning_of(const char *name)
{
    for (int kind = 0; kind < FORECAST_LIMITS; kind++) {
        if (strcmp(forecast_limits_name((enum forecast_limit_kind)kind), name) == 0) {
            return forecast_limits_meaning((enum forecast_limit_kind)kind);
        }
    }
    return "";
}

static void append_limits(struct text *out, const json_t *document)
{
    const json_t *list = json_object_get(document, "limits");
    const char *kind = "";

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        if (strcmp(kind, report_markup_string(item, "kind")) != 0) {
            kind = report_markup_string(item, "kind");
            text_format(out, "%s: %s\n", kind, meaning_of(kind));
        }
        if (is_first(list, i, "kind")) {
            append_instances(out, list, i, "kind");
            text_format(out, ": %s\n", report_markup_string(item, "sentence"));
        }
    }
}

// -- All of it ---------------------------------------------------------------------------------

void forecast_text_print_sizes(const json_t *document, struct text *out)
{
    const json_t *times = json_object_get(document, "times");

    append_memory(out, document);
    for (size_t i = 0; i < json_array_size(times); i++) {
        append_time(out, json_array_get(times, i));
    }
}

void forecast_text_print(const json_t *document, struct text *out)
{
    const int64_t prompts = report_markup_count(document, "prompts");

    forecast_text_print_verdict(document, out);
    text_append(out, "\n");
    forecast_text_print_sizes(document, out);
    append_ranges(out, document);
    append_limits(out, document);
    text_format(out, "from %" PRId64 " prompt%s, %" PRId64 " tokens on %s\n", prompts,
                prompts == 1 ? "" : "s", report_markup_count(document, "tokens"),
                report_markup_string(document, "source"));
}
