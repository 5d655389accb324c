// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_agreement.h"

#include "report/report_grid.h"
#include "report/report_markup.h"
#include "schema/catalogue.h"
#include "verify/agreement.h"

#include <math.h>
#include <string.h>

static const double SAME = 1e-3; // Of the larger value.

static enum agreement_opinion opinion_of(const json_t *target, const char *op)
{
    double margin = NAN;
    const char *state = report_grid_worst(target, op, &margin);

    return state == NULL                 ? AGREEMENT_NONE
           : strcmp(state, "wrong") == 0 ? AGREEMENT_WRONG
           : strcmp(state, "right") == 0 ? AGREEMENT_AGREES
                                         : AGREEMENT_NONE;
}

// -- Values --------------------------------------------------------------------------------------

// How many values two wrong targets have in common, and how many of these are the same.
struct shared_values {
    size_t count, same;
};

static int is_at_one_place(const json_t *a, const json_t *b)
{
    return strcmp(report_markup_string(a, "param"), report_markup_string(b, "param")) == 0 &&
           strcmp(report_markup_string(a, "place"), report_markup_string(b, "place")) == 0;
}

static int is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ||
           (isfinite(a) && isfinite(b) && fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)));
}

static void compare_values(const json_t *a, const json_t *b, struct shared_values *values)
{
    for (size_t i = 0; i < json_array_size(a); i++) {
        for (size_t k = 0; k < json_array_size(b); k++) {
            const json_t *one = json_array_get(a, i), *other = json_array_get(b, k);

            if (is_at_one_place(one, other)) {
                values->count++;
                values->same += is_same(report_markup_number(one, "computed"),
                                        report_markup_number(other, "computed")) != 0;
            }
        }
    }
}

static const json_t *case_of(const json_t *target, size_t blamed, const char *op)
{
    const json_t *item =
        json_object_get(json_array_get(json_object_get(target, "blamed"), blamed), "case");

    return json_is_object(item) && strcmp(report_markup_string(item, "op"), op) == 0 ? item : NULL;
}

// Cases are the same by their content keys.
static void
compare_targets(const json_t *a, const json_t *b, const char *op, struct shared_values *values)
{
    const size_t count = json_array_size(json_object_get(a, "blamed"));
    const size_t others = json_array_size(json_object_get(b, "blamed"));

    for (size_t i = 0; i < count; i++) {
        const json_t *one = case_of(a, i, op);

        for (size_t k = 0; one != NULL && k < others; k++) {
            const json_t *other = case_of(b, k, op);

            if (other != NULL &&
                strcmp(report_markup_string(one, "key"), report_markup_string(other, "key")) == 0) {
                compare_values(json_object_get(one, "values"), json_object_get(other, "values"),
                               values);
            }
        }
    }
}

// Whether all wrong targets compute the same values, as far as they have some in common with the
// first one.
static int are_same(const json_t *targets, const char *op)
{
    const json_t *first = NULL;

    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *target = json_array_get(targets, i);
        struct shared_values values = {.count = 0};

        if (opinion_of(target, op) != AGREEMENT_WRONG) {
            continue;
        }
        if (first == NULL) {
            first = target;
            continue;
        }
        compare_targets(first, target, op, &values);
        if (values.count == 0 || values.same < values.count) {
            return 0;
        }
    }
    return 1;
}

// -- The sentence --------------------------------------------------------------------------------

int report_agreement_print(const json_t *targets, const char *op, struct text *out)
{
    struct agreement_target said[AGREEMENT_TARGETS_MAX];
    size_t count = 0;

    for (; count < json_array_size(targets) && count < AGREEMENT_TARGETS_MAX; count++) {
        const json_t *target = json_array_get(targets, count);

        said[count] = (struct agreement_target){.name = report_markup_string(target, "name"),
                                                .opinion = opinion_of(target, op)};
    }
    return agreement_print(catalogue_shorten(op), said, count, are_same(targets, op), out);
}
