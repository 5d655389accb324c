// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_cells.h"

#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// -- The page ----------------------------------------------------------------------------------

void report_cells_text(const json_t *item, const char *key, struct text *out)
{
    REPORT_MARKUP(out, "<td>{}</td>", report_markup_string(item, key));
}

void report_cells_code(const json_t *item, const char *key, struct text *out)
{
    REPORT_MARKUP(out, "<td><code>{}</code></td>", report_markup_string(item, key));
}

void report_cells_op(const json_t *item, const char *key, struct text *out)
{
    REPORT_MARKUP(out, "<td>{}</td>", catalogue_shorten(report_markup_string(item, key)));
}

void report_cells_op_code(const json_t *item, const char *key, struct text *out)
{
    REPORT_MARKUP(out, "<td><code>{}</code></td>",
                  catalogue_shorten(report_markup_string(item, key)));
}

void report_cells_count(const json_t *item, const char *key, struct text *out)
{
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<td class=\"num\">{}</td>", report_markup_thousands_of(item, key, s.a));
}

const char *report_cells_sort_key(int64_t number, char *out)
{
    (void)snprintf(out, REPORT_MARKUP_SHORT, "%" PRId64, number);
    return out;
}

void report_cells_number(const json_t *item, const char *key, struct text *out)
{
    struct report_markup_shorts s;

    (void)report_cells_word_number(item, key, s.a);
    REPORT_MARKUP(out, "<td class=\"num\" data-n=\"{}\">{}</td>", s.a, s.a);
}

void report_cells_margin(const json_t *item, const char *key, struct text *out)
{
    const double margin = report_markup_number(item, key);
    struct report_markup_shorts s;

    (void)snprintf(s.a, sizeof(s.a), "%.6g", isnan(margin) ? -1 : isinf(margin) ? 1e300 : margin);
    REPORT_MARKUP(out, "<td class=\"num\" data-n=\"{}\">{}</td>", s.a,
                  report_markup_margin(margin, s.b));
}

void report_cells_time(const json_t *item, const char *key, struct text *out)
{
    const int64_t time_ns = report_markup_count(item, key);
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<td class=\"num\" data-n=\"{}\">{}</td>",
                  report_cells_sort_key(time_ns, s.a), report_markup_time(time_ns, s.b));
}

// -- The text ----------------------------------------------------------------------------------

const char *report_cells_word_text(const json_t *item, const char *key, char *out)
{
    (void)out;
    return report_markup_string(item, key);
}

const char *report_cells_word_count(const json_t *item, const char *key, char *out)
{
    return report_cells_sort_key(report_markup_count(item, key), out);
}

const char *report_cells_word_number(const json_t *item, const char *key, char *out)
{
    const double number = report_markup_number(item, key);

    (void)snprintf(out, REPORT_MARKUP_SHORT, "%.3g", isnan(number) ? 0 : number);
    return out;
}
