// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_common.h"

#include <math.h>
#include <string.h>

// Below it a list is as short as a sentence.
enum { JUDGED_MIN = 4 };

// How a case fails. The first is that of cases of which nothing is known but that they are wrong.
enum manner { MANNER_NUMBERS, MANNER_ZERO, MANNER_NAN, MANNER_UNWRITTEN, MANNER_ERROR, MANNERS };

static const char *const manners[] = {
    [MANNER_NUMBERS] = "gives numbers beyond its limit",
    [MANNER_ZERO] = "gives zero where something else is expected",
    [MANNER_NAN] = "gives NaN",
    [MANNER_UNWRITTEN] = "leaves its output unwritten",
    [MANNER_ERROR] = "ends in an error",
};

// What the cases of blamed instances come to.
struct shared_failures {
    size_t cases[MANNERS];
    size_t prefill, decode; // Of all of them.
    const char *ops[64];    // Kinds of the blamed instances, as far as there is room.
    size_t op_count;
};

static int all_computed(const struct element_list *list, int (*is_such)(double value))
{
    for (size_t i = 0; i < list->count; i++) {
        if (!is_such(list->items[i].computed)) {
            return 0;
        }
    }
    return list->count > 0;
}

static int is_zero(double value)
{
    return value == 0;
}

static int is_nan(double value)
{
    return isnan(value);
}

static enum manner manner_of(const struct verdict *verdict)
{
    return verdict->kind == VERDICT_ERROR                       ? MANNER_ERROR
           : strstr(verdict->reason, "was not written") != NULL ? MANNER_UNWRITTEN
           : all_computed(&verdict->elements, is_zero)          ? MANNER_ZERO
           : all_computed(&verdict->elements, is_nan)           ? MANNER_NAN
                                                                : MANNER_NUMBERS;
}

static void count_cases(const struct report_rows *rows, struct shared_failures *shared)
{
    for (size_t i = 0; i < rows->verdicts.count; i++) {
        const struct verdict *verdict = &rows->verdicts.items[i];
        const struct blame_row *blame = report_rows_blame(rows, verdict->instance);

        if ((verdict->kind == VERDICT_FAIL || verdict->kind == VERDICT_ERROR) && blame != NULL &&
            blame_is_failure(blame)) {
            shared->cases[manner_of(verdict)]++;
            shared->prefill += strcmp(verdict->phase, "prefill") == 0;
            shared->decode += strcmp(verdict->phase, "decode") == 0;
        }
    }
}

static void count_ops(const struct report_rows *rows, struct shared_failures *shared)
{
    for (size_t i = 0; i < rows->instance_count; i++) {
        const char *op = rows->instances[i].op;
        size_t known = 0;

        while (known < shared->op_count && strcmp(shared->ops[known], op) != 0) {
            known++;
        }
        if (rows->places[i] == REPORT_BLAMED && known == shared->op_count &&
            known < sizeof(shared->ops) / sizeof(*shared->ops)) {
            shared->ops[shared->op_count++] = op;
        }
    }
}

// "; each of 116 failing cases gives NaN", if they fail alike.
static void print_manner(const struct shared_failures *shared, struct text *out)
{
    size_t all = 0;

    for (int i = 0; i < MANNERS; i++) {
        all += shared->cases[i];
    }
    for (int i = 0; i < MANNERS; i++) {
        if (all > 0 && shared->cases[i] == all) {
            text_format(out, "; each of their %zu failing cases %s", all, manners[i]);
        }
    }
}

static const char *phases_of(const struct shared_failures *shared)
{
    return shared->prefill > 0 && shared->decode > 0 ? ", in prefill and in decode"
           : shared->prefill > 0                     ? ", in prefill alone"
           : shared->decode > 0                      ? ", in decode alone"
                                                     : "";
}

void report_common_print(const struct report_rows *rows, struct text *out)
{
    const size_t judged = rows->moved + rows->blamed;
    struct shared_failures shared = {.op_count = 0};

    if (judged < JUDGED_MIN || 2 * rows->blamed <= judged) {
        return;
    }
    count_cases(rows, &shared);
    count_ops(rows, &shared);
    text_format(out,
                "%zu of the %zu instances that were judged on '%s' fail, of %zu kinds of "
                "operators%s",
                rows->blamed, judged, rows->target.name, shared.op_count, phases_of(&shared));
    print_manner(&shared, out);
    text_append(out, ": look for one cause below them before you look at each");
}
