// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/expression_form.h"

int expression_form_length(struct span span)
{
    return (int)(span.end - span.at);
}

struct span expression_form_trim(struct span span)
{
    while (span.at < span.end && *span.at == ' ') {
        span.at++;
    }
    while (span.end > span.at && span.end[-1] == ' ') {
        span.end--;
    }
    return span;
}
