// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/judgement.h"

#include "base/assert.h"

#include <math.h>

enum { MEASURE_TEXT = 128 };

static struct compare_result result_of(const struct output_error *error)
{
    return (struct compare_result){.is_equal_bits = error->is_equal,
                                   .nmse = error->nmse,
                                   .row_error = error->row_error,
                                   .ulp = error->ulp,
                                   .mismatched_non_finite = error->non_finite};
}

// An error that is no number, as a store of a third party may have, passes nothing.
static double margin_of(const struct output_error *error, const struct compare_limit *limit)
{
    const struct compare_result result = result_of(error);
    const double margin = *error->class_ == '\0' ? error->margin : compare_margin(&result, limit);
    return error->is_outside || isnan(margin) ? (double)INFINITY : margin;
}

struct judgement
judgement_make(const struct output_error *errors, const struct compare_limit *limits, size_t count)
{
    struct judgement judgement = {.kind = VERDICT_PASS};
    ASSERT(count > 0); // Nothing was compared: there is nothing to judge.
    for (size_t i = 0; i < count; i++) {
        const double margin = margin_of(&errors[i], &limits[i]);
        if (margin > judgement.margin) {
            judgement.worst = i;
            judgement.margin = margin;
        }
    }
    judgement.kind = judgement.margin <= 1 ? VERDICT_PASS : VERDICT_FAIL;
    return judgement;
}

void judgement_explain(const struct output_error *error,
                       const struct compare_limit *limit,
                       const char *observed,
                       struct text *out_text)
{
    if (error->is_outside || *error->class_ == '\0') {
        text_append(out_text, *observed != '\0' ? observed : "its errors are not known");
        return;
    }
    const struct compare_result result = result_of(error);
    char measure[MEASURE_TEXT];
    compare_explain(&result, limit, measure, sizeof(measure));
    text_append(out_text, error->param);
    if (*error->place != '\0') {
        text_format(out_text, "[%s]", error->place);
    }
    text_format(out_text, " is %.9g, expected %.9g: %s%s%s", error->computed, error->expected,
                measure, *observed != '\0' ? ", " : "", observed);
}
