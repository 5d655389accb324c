// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/case_text.h"

#include "base/assert.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/slice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void case_text_print_name(const struct carved_case *item, struct text *out)
{
    text_sentence(out, "case %" PRId64 ": %s, %s, %s, step %" PRId64 "\n", item->id, item->instance,
                  item->op_name, item->phase, item->step);
}

// -- Arguments ---------------------------------------------------------------------------------

// What is in a tensor.
struct contents {
    double least, largest, sum, squares;
    uint64_t finite, other;
};

static struct contents look(uint32_t dtype, const unsigned char *data, uint64_t count)
{
    struct contents contents = {.least = INFINITY, .largest = -INFINITY};

    for (uint64_t i = 0; i < count; i++) {
        double value = 0;

        convert_to_f64(dtype, data + i * dtype_bytes(dtype), 1, &value);
        if (!isfinite(value)) {
            contents.other++;
            continue;
        }
        contents.finite++;
        contents.least = fmin(contents.least, value);
        contents.largest = fmax(contents.largest, value);
        contents.sum += value;
        contents.squares += value * value;
    }
    return contents;
}

static void print_shape(const struct case_argument *argument, struct text *out)
{
    text_append(out, "[");
    for (uint32_t i = 0; i < argument->rank; i++) {
        text_format(out, "%s%" PRId64, i > 0 ? ", " : "", argument->shape[i]);
    }
    text_append(out, "]");
}

static void print_contents(const struct case_argument *argument, const void *data, struct text *out)
{
    const uint64_t count = argument->content_bytes / dtype_bytes(argument->dtype);
    const struct contents contents = look(argument->dtype, data, count);
    const double finite = (double)contents.finite;

    if (contents.finite > 0) {
        text_format(out, " %.6g .. %.6g, mean %.6g, rms %.6g", contents.least, contents.largest,
                    contents.sum / finite, sqrt(contents.squares / finite));
    }
    if (contents.other > 0) {
        text_format(out, ", %" PRIu64 " not finite", contents.other);
    }
}

static void print_data(const struct case_argument *argument,
                       const char *when,
                       const void *data,
                       struct text *out)
{
    if (data == NULL) {
        return;
    }
    text_format(out, "  %s", when);
    if (argument->encoding != NULL || argument->kind == TAPML_P_TENSORS_IN) {
        text_format(out, " %" PRIu64 " bytes", argument->content_bytes);
    } else {
        print_contents(argument, data, out);
    }
}

static void print_tensor(const struct case_argument *argument, struct text *out)
{
    text_format(out, " %s ", encoding_name(argument->encoding, argument->dtype));
    print_shape(argument, out);
    if (case_is_state(argument)) {
        text_format(out, " rows %" PRId64 " .. %" PRId64 " kept", argument->kept_begin,
                    argument->kept_end - 1);
    }
    if (case_is_reference(argument)) {
        text_format(out, "  in the checkpoint: %s", argument->origin);
    }
    print_data(argument, "in", argument->before, out);
    print_data(argument, "out", argument->after, out);
}

static void print_argument(const struct case_argument *argument, struct text *out)
{
    text_format(out, "  %-12s", argument->name);
    switch (argument->kind) {
    case TAPML_V_NONE:
        text_append(out, " absent");
        break;
    case TAPML_P_I64:
        text_format(out, " %" PRId64, argument->i);
        break;
    case TAPML_P_F64:
        text_format(out, " %.17g", argument->d);
        break;
    default:
        print_tensor(argument, out);
        break;
    }
    text_append(out, "\n");
}

void case_text_print_arguments(const struct carved_case *item, struct text *out)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        print_argument(&item->arguments[i], out);
    }
}

// -- Verdicts ----------------------------------------------------------------------------------

static void print_error(const struct output_error *error, struct text *out)
{
    text_format(out, "  %s:", error->param);
    if (error->is_equal) {
        text_append(out, " equal in every bit\n");
        return;
    }
    if (error->non_finite > 0) {
        text_format(out, " %" PRIu64 " not finite on one side alone,", error->non_finite);
    }
    text_format(out, " error %.3g", sqrt(error->nmse));
    if (error->nmse > 0 && isfinite(error->nmse)) {
        text_format(out, " (NMSE %.3g, %.1f dB)", error->nmse, -10 * log10(error->nmse));
    }
    if (!isnan(error->cosine)) {
        text_format(out, ", cosine %.9g", error->cosine);
    }
    text_format(out, ", at most %.0f ULP; worst [%s]: expected %.9g, computed %.9g\n", error->ulp,
                error->place, error->expected, error->computed);
}

static void print_measure(const struct measured *measure, struct text *out)
{
    text_format(out, "  %s: %.6g %s", measure->param, measure->value, measure->unit);
    if (measure->limit > 0) {
        text_format(out, ", limit %.6g", measure->limit);
    }
    text_format(out, " (%s)\n", measure->comparer);
}

void case_text_print_verdict(const char *target, const struct verdict *verdict, struct text *out)
{
    text_format(out, "%s: %s", target, verdict_name(verdict->kind));
    if (isfinite(verdict->margin)) {
        text_format(out, ", margin %.3g", verdict->margin);
    }
    text_format(out, "%s%s\n", *verdict->reason != '\0' ? ": " : "", verdict->reason);
    for (size_t i = 0; i < verdict->error_count; i++) {
        print_error(&verdict->errors[i], out);
    }
    for (size_t i = 0; i < verdict->measure_count; i++) {
        print_measure(&verdict->measures[i], out);
    }
    for (size_t i = 0; i < verdict->elements.count; i++) {
        const struct element *element = &verdict->elements.items[i];

        text_format(out, "  %s[%s]: expected %.9g, computed %.9g, %.3g is allowed\n",
                    element->param, element->place, element->expected, element->computed,
                    element->allowed);
    }
}

// -- Values ------------------------------------------------------------------------------------

static tapml_status find_argument(const struct carved_case *item,
                                  const char *name,
                                  const struct case_argument **out_argument)
{
    char known[256] = "";

    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        const size_t used = strlen(known);

        if ((argument->before == NULL && argument->after == NULL) || argument->encoding != NULL ||
            argument->kind == TAPML_P_TENSORS_IN) {
            continue;
        }
        if (strcmp(argument->name, name) == 0) {
            *out_argument = argument;
            return TAPML_OK;
        }
        (void)snprintf(known + used, sizeof(known) - used, " %s", argument->name);
    }
    return status_fail(TAPML_INVALID, "the case has no values of '%s', it has those of%s", name,
                       known);
}

static void
print_value(const struct case_argument *argument, const void *data, size_t at, struct text *out)
{
    double value = 0;

    if (data != NULL) {
        convert_to_f64(argument->dtype,
                       (const unsigned char *)data + at * dtype_bytes(argument->dtype), 1, &value);
        text_format(out, " %.9g", value);
    }
}

tapml_status case_text_print_values(const struct carved_case *item,
                                    const char *name,
                                    const char *slice_text,
                                    struct text *out)
{
    const struct case_argument *argument = NULL;
    struct slice slice;

    TAPML_TRY(find_argument(item, name, &argument));
    ASSERT(argument != NULL);
    const struct case_argument view = case_content_view(argument);

    TAPML_TRY(slice_parse(slice_text, view.shape, view.rank, &slice));
    const uint64_t count = slice_count(&slice);

    if (count > CASE_TEXT_VALUES_MAX) {
        return status_fail(TAPML_INVALID,
                           "'%s' has %" PRIu64 " elements there, at most %d are printed: give a "
                           "slice such as 0, :16",
                           name, count, CASE_TEXT_VALUES_MAX);
    }
    for (uint64_t i = 0; i < count; i++) {
        int64_t indices[TAPML_MAX_RANK];
        const size_t at = slice_at(&slice, view.shape, i, indices);

        text_format(out, "%s[", name);
        for (uint32_t k = 0; k < view.rank; k++) {
            text_format(out, "%s%" PRId64, k > 0 ? ", " : "", indices[k]);
        }
        text_append(out, "]");
        print_value(argument, argument->before, at, out);
        print_value(argument, argument->after, at, out);
        text_append(out, "\n");
    }
    return TAPML_OK;
}
