// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "verify/agreement.h"

static size_t
count_of(const struct agreement_target *targets, size_t count, enum agreement_opinion opinion)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        found += targets[i].opinion == opinion;
    }
    return found;
}

static void print_names(const struct agreement_target *targets, size_t count, struct text *out)
{
    const char *between = ": ";

    for (size_t i = 0; i < count; i++) {
        if (targets[i].opinion == AGREEMENT_AGREES) {
            text_format(out, "%s%s", between, targets[i].name);
            between = ", ";
        }
    }
}

int agreement_print(const char *op,
                    const struct agreement_target *targets,
                    size_t count,
                    int are_same,
                    struct text *out)
{
    const size_t agree = count_of(targets, count, AGREEMENT_AGREES);
    const size_t wrong = count_of(targets, count, AGREEMENT_WRONG);
    const int has_same = wrong > 1 && are_same;

    if (wrong == 0 || agree + wrong < 2) {
        return 0;
    }
    if (agree > 0) {
        text_format(out, "%s: %zu of %zu targets agree%s with the source", op, agree, agree + wrong,
                    agree == 1 ? "s" : "");
        print_names(targets, count, out);
        text_append(out, has_same ? "; the others compute the same values as each other" : "");
    } else {
        text_format(out, "%s: none of %zu targets agrees with the source%s", op, wrong,
                    has_same ? ", and they compute the same values: look at the source first" : "");
    }
    return 1;
}
