// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/conduct_data.h"

#include "report/report_markup.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// A number, or null where it is none.
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *list_elements(const struct verdict *verdict)
{
    json_t *list = json_array();

    for (size_t i = 0; i < verdict->elements.count; i++) {
        const struct element *element = &verdict->elements.items[i];

        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "output",
                                                    element->param, "index", element->place,
                                                    "expected", number(element->expected),
                                                    "computed", number(element->computed)));
    }
    return list;
}

static json_t *describe_failure(const struct conduct_data *data)
{
    const struct conduct_result *result = data->result;
    const struct verdict *failure = result->failure;

    if (failure == NULL) {
        return json_null();
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "instance", failure->instance,
                               "phase", failure->phase, "source", failure->source, "label",
                               failure->label, "shape", result->shape, "output", failure->output);

    if (!data->hides_cases) {
        (void)json_object_set_new(object, "reason", json_string(failure->reason));
        (void)json_object_set_new(object, "margin", number(failure->margin));
        (void)json_object_set_new(object, "elements", list_elements(failure));
    }
    return object;
}

static json_t *describe_times(const struct conduct_result *result)
{
    return result->warm_ns == 0
               ? json_null()
               : json_pack("{s:I, s:I, s:I, s:I}", "cold_ns", (json_int_t)result->cold_ns,
                           "warm_ns", (json_int_t)result->warm_ns, "copy_ns",
                           (json_int_t)result->copy_ns, "bytes", (json_int_t)result->written_bytes);
}

static json_t *describe_cases(const struct conduct_result *result)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "kept", (json_int_t)result->kept, "derived",
                     (json_int_t)result->derived, "failed", (json_int_t)result->failed,
                     "unsupported", (json_int_t)result->unsupported, "not_judged",
                     (json_int_t)result->skipped, "calls", (json_int_t)result->calls);
}

// A sentence that has no value of a case.
static const char *find_reason(const struct conduct_data *data)
{
    const int has_values = data->result->kind == CONDUCT_WRONG ||
                           data->result->kind == CONDUCT_SHAPES ||
                           data->result->kind == CONDUCT_VALUES;

    return data->hides_cases && has_values ? "" : data->result->why;
}

tapml_status conduct_data_create(const struct conduct_data *data, json_t **out_document)
{
    *out_document =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "format", "tapml-judgement/1",
                  "file", data->file, "op", data->op, "backend", data->backend, "verdict",
                  conduct_kind_name(data->result->kind), "why", find_reason(data), "cases",
                  describe_cases(data->result), "failure", describe_failure(data), "times",
                  describe_times(data->result));
    return *out_document != NULL ? TAPML_OK : status_no_memory();
}

// -- Text --------------------------------------------------------------------------------------

static void print_failure(const json_t *failure, struct text *out)
{
    const char *label = report_markup_string(failure, "label");
    const char *reason = report_markup_string(failure, "reason");

    text_format(out, "smallest failing case: %s, %s, %s%s%s\n  %s\n",
                report_markup_string(failure, "instance"), report_markup_string(failure, "phase"),
                report_markup_string(failure, "source"), *label != '\0' ? " " : "", label,
                report_markup_string(failure, "shape"));
    if (*reason != '\0') {
        text_format(out, "  %s\n", reason);
    }
}

static void print_times(const json_t *times, struct text *out)
{
    text_format(out, "time: first call %.1f us, later ones %.1f us",
                (double)report_markup_count(times, "cold_ns") / 1e3,
                (double)report_markup_count(times, "warm_ns") / 1e3);
    if (report_markup_count(times, "copy_ns") > 0) {
        text_format(out, "; a copy of the %" PRId64 " bytes that it writes %.1f us",
                    report_markup_count(times, "bytes"),
                    (double)report_markup_count(times, "copy_ns") / 1e3);
    }
    text_append(out, "\n");
}

void conduct_data_print(const json_t *document, struct text *out)
{
    const json_t *cases = json_object_get(document, "cases");
    const json_t *failure = json_object_get(document, "failure");
    const json_t *times = json_object_get(document, "times");
    const char *why = report_markup_string(document, "why");

    text_format(out, "%s: %s%s%s\n", report_markup_string(document, "op"),
                report_markup_string(document, "verdict"), *why != '\0' ? ": " : "", why);
    text_format(out,
                "%" PRId64 " kept and %" PRId64 " derived cases, %" PRId64 " failed, %" PRId64
                " unsupported, %" PRId64 " not judged; %" PRId64 " calls\n",
                report_markup_count(cases, "kept"), report_markup_count(cases, "derived"),
                report_markup_count(cases, "failed"), report_markup_count(cases, "unsupported"),
                report_markup_count(cases, "not_judged"), report_markup_count(cases, "calls"));
    if (json_is_object(failure)) {
        print_failure(failure, out);
    }
    if (json_is_object(times)) {
        print_times(times, out);
    }
}
