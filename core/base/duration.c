// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/duration.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double YEAR_S = 366.0 * 24 * 3600;

// What has three digits of the larger unit as well: 999.9 ms is 1 s.
static const double ROUNDED = 0.9995;

// The larger ones last.
static const struct {
    const char *name;
    double seconds;
} units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};

enum { UNITS = sizeof(units) / sizeof(*units) };

tapml_status duration_read(const char *word, double *out_seconds)
{
    const size_t size = strspn(word, "+-.0123456789");
    const char *unit = word + size + strspn(word + size, " ");

    for (size_t i = 0; i < UNITS; i++) {
        double number = 0;

        if (strcmp(unit, units[i].name) == 0 &&
            text_parse_f64_part(word, size, &number) == TAPML_OK && number > 0 &&
            number * units[i].seconds <= YEAR_S) {
            *out_seconds = number * units[i].seconds;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID,
                       "expected a time of at most a year, such as '90s', '20min', '2h' or '1d', "
                       "found '%.40s'",
                       word);
}

void duration_print(double seconds, char out_text[DURATION_TEXT])
{
    size_t unit = 0;

    if (isnan(seconds)) {
        (void)snprintf(out_text, DURATION_TEXT, "?");
        return;
    }
    while (unit + 1 < UNITS && seconds >= ROUNDED * units[unit + 1].seconds) {
        unit++;
    }
    (void)snprintf(out_text, DURATION_TEXT, "%.3g %s", seconds / units[unit].seconds,
                   units[unit].name);
}
