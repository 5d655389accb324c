// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/conditions.h"

#include <math.h>
#include <string.h>

static int is_integer(const struct datum *datum)
{
    return datum->kind == DATUM_INTEGER;
}

static int is_defined(const struct datum *datum)
{
    return datum->kind != DATUM_UNDEFINED;
}

static int is_none(const struct datum *datum)
{
    return datum->kind == DATUM_NONE;
}

static int is_text(const struct datum *datum)
{
    return datum->kind == DATUM_TEXT;
}

static int is_map(const struct datum *datum)
{
    return datum->kind == DATUM_MAP;
}

// What has items: an undefined value has none of them.
static int is_iterable(const struct datum *datum)
{
    return datum_is_list(datum) || is_text(datum) || is_map(datum) || !is_defined(datum);
}

static int is_real(const struct datum *datum)
{
    return datum->kind == DATUM_REAL;
}

static int is_bool(const struct datum *datum)
{
    return datum->kind == DATUM_BOOL;
}

static int is_true(const struct datum *datum)
{
    return is_bool(datum) && datum->integer;
}

static int is_false(const struct datum *datum)
{
    return is_bool(datum) && !datum->integer;
}

static int is_function(const struct datum *datum)
{
    return datum->kind == DATUM_FUNCTION;
}

static int is_undefined(const struct datum *datum)
{
    return !is_defined(datum);
}

// Tests of one value.
static const struct {
    const char *name;
    int (*holds)(const struct datum *datum);
} plain[] = {
    {"defined", is_defined},   {"undefined", is_undefined}, {"none", is_none},
    {"string", is_text},       {"mapping", is_map},         {"iterable", is_iterable},
    {"sequence", is_iterable}, {"number", datum_is_number}, {"integer", is_integer},
    {"float", is_real},        {"boolean", is_bool},        {"true", is_true},
    {"false", is_false},       {"callable", is_function},
};

// Tests of two values, and the comparison that each is.
static const struct {
    const char *name, *comparison;
} pairs[] = {
    {"==", "=="}, {"eq", "=="},  {"equalto", "=="},    {"ne", "!="}, {"lt", "<"},
    {"le", "<="}, {"gt", ">"},   {"ge", ">="},         {"in", "in"}, {"sameas", "is"},
    {"odd", "%"}, {"even", "%"}, {"divisibleby", "%"},
};

enum { PLAIN_COUNT = sizeof(plain) / sizeof(plain[0]) };
enum { PAIR_COUNT = sizeof(pairs) / sizeof(pairs[0]) };

int conditions_know(const char *name)
{
    for (int i = 0; i < PLAIN_COUNT; ++i) {
        if (strcmp(plain[i].name, name) == 0) {
            return 1;
        }
    }
    for (int i = 0; i < PAIR_COUNT; ++i) {
        if (strcmp(pairs[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

// The rest of a division of integers is 0, or 1 for `odd`.
static tapml_status
divides(const char *name, const struct datum *value, const struct datum *divisor, int *out_truth)
{
    int64_t by = 2;
    int64_t number = 0;
    if (strcmp(name, "divisibleby") == 0) {
        TAPML_TRY(arguments_integer(name, divisor, 0, &by));
    }
    if (value->kind == DATUM_UNDEFINED || value->kind == DATUM_NONE || by == 0) {
        return status_fail(TAPML_INVALID, "'%s' expects an integer and no division by 0", name);
    }
    TAPML_TRY(arguments_integer(name, value, 0, &number));
    const int is_whole = by == -1 || number % by == 0;
    *out_truth = strcmp(name, "odd") == 0 ? !is_whole : is_whole;
    return TAPML_OK;
}

static tapml_status order(struct budget *budget,
                          const char *comparison,
                          const struct datum *left,
                          const struct datum *right,
                          int *out_truth)
{
    int sign = 0;
    TAPML_TRY(datum_compare(budget, left, right, &sign));
    if (left->kind == DATUM_REAL || right->kind == DATUM_REAL) {
        if (isnan(datum_real(left)) || isnan(datum_real(right))) {
            *out_truth = 0;
            return TAPML_OK;
        }
    }
    *out_truth = comparison[0] == '<' ? sign < 0 : sign > 0;
    *out_truth |= comparison[1] == '=' && sign == 0;
    return TAPML_OK;
}

static tapml_status apply_pair(struct budget *budget,
                               const char *name,
                               const char *comparison,
                               const struct datum *values,
                               int *out_truth)
{
    if (strcmp(comparison, "%") == 0) {
        return divides(name, &values[0], &values[1], out_truth);
    }
    if (strcmp(comparison, "in") == 0) {
        return datum_contains(budget, &values[1], &values[0], out_truth);
    }
    if (comparison[0] == '<' || comparison[0] == '>') {
        return order(budget, comparison, &values[0], &values[1], out_truth);
    }
    if (strcmp(comparison, "is") == 0 && values[0].kind != values[1].kind) {
        *out_truth = 0;
        return TAPML_OK;
    }
    TAPML_TRY(datum_equal(budget, &values[0], &values[1], out_truth));
    *out_truth ^= comparison[0] == '!';
    return TAPML_OK;
}

tapml_status conditions_apply(struct budget *budget,
                              const char *name,
                              const struct arguments *arguments,
                              int *out_truth)
{
    static const char *const one[] = {"value", NULL};
    static const char *const two[] = {"value", "other", NULL};
    struct datum values[2];
    TAPML_TRY(budget_spend(budget, 1));
    for (int i = 0; i < PLAIN_COUNT; ++i) {
        if (strcmp(plain[i].name, name) == 0) {
            TAPML_TRY(arguments_bind(arguments, name, one, values));
            *out_truth = plain[i].holds(&values[0]);
            return TAPML_OK;
        }
    }
    for (int i = 0; i < PAIR_COUNT; ++i) {
        if (strcmp(pairs[i].name, name) == 0) {
            TAPML_TRY(arguments_bind(arguments, name, two, values));
            return apply_pair(budget, name, pairs[i].comparison, values, out_truth);
        }
    }
    return status_fail(TAPML_INVALID, "the test '%.100s' is unsupported", name);
}
