// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/forecast_html.h"

#include "report/forecast_text.h"
#include "report/report_cells.h"
#include "report/report_list.h"
#include "report/report_markup.h"

#define COUNT(table_) (sizeof(table_) / sizeof(*(table_)))

static void print_loss(const json_t *item, const char *key, struct text *out)
{
    (void)key;
    text_append(out, json_is_true(json_object_get(item, "leaves")) ? "<td>leaves the range</td>"
                                                                   : "<td>loses precision</td>");
}

static const struct report_cell range_cells[] = {
    {"type", 0, "type", report_cells_code},
    {"operator", 0, "op", report_cells_op_code},
    {"where in the model", 0, "instance", report_cells_code},
    {"what its values do", 0, NULL, print_loss},
    {"largest", 1, "largest", report_cells_number},
    {"values", 1, "values", report_cells_count},
    {"beyond the range", 1, "beyond", report_cells_count},
    {"below normal numbers", 1, "below", report_cells_count},
    {"become 0", 1, "zeroed", report_cells_count},
    {"relative error", 1, "worst", report_cells_number},
};

static const struct report_cell limit_cells[] = {
    {"what", 0, "kind", report_cells_text},
    {"operator", 0, "op", report_cells_op_code},
    {"where in the model", 0, "instance", report_cells_code},
    {"why", 0, "sentence", report_cells_text},
};

static const struct report_list ranges = {.cells = range_cells, .cell_count = COUNT(range_cells)};
static const struct report_list limits = {.cells = limit_cells, .cell_count = COUNT(limit_cells)};

static void print_list(const json_t *forecast,
                       const char *key,
                       const struct report_list *list,
                       const char *label,
                       struct text *out)
{
    const json_t *items = json_object_get(forecast, key);
    struct report_markup_shorts s;

    if (json_array_size(items) == 0) {
        return;
    }
    REPORT_MARKUP(out, "<details><summary>{}: {}</summary>\n", label,
                  report_markup_thousands((int64_t)json_array_size(items), s.a));
    report_list_print_table(
        list, &(struct report_list_table){.label = label, .classes = "wrap", .is_tall = 1}, items,
        out);
    text_append(out, "</details>\n");
}

static void print_forecast(const json_t *forecast, struct text *out)
{
    struct text verdict, sizes;

    text_init(&verdict);
    text_init(&sizes);
    forecast_text_print_verdict(forecast, &verdict);
    forecast_text_print_sizes(forecast, &sizes);
    out->failed |= verdict.failed || sizes.failed;
    if (!out->failed) {
        REPORT_MARKUP(out,
                      "<article><h3><bdi>{}</bdi></h3>\n<p>{}.</p>\n<pre class=\"tell\" "
                      "tabindex=\"0\">{}</pre>\n",
                      report_markup_string(forecast, "name"), verdict.data, sizes.data);
    }
    text_release(&verdict);
    text_release(&sizes);
    print_list(forecast, "ranges", &ranges, "Operators whose values leave or lose a range", out);
    print_list(forecast, "limits", &limits, "Operators that exceed a limit", out);
    text_append(out, "</article>\n");
}

void forecast_html_print(const json_t *forecasts, struct text *out)
{
    if (json_array_size(forecasts) == 0) {
        return;
    }
    text_append(out, "<section><h2>What other devices would make of the model</h2>\n"
                     "<p class=\"soft\">A forecast, from the values on the source and the figures "
                     "of each device: nothing ran there.</p>\n");
    for (size_t i = 0; i < json_array_size(forecasts); i++) {
        print_forecast(json_array_get(forecasts, i), out);
    }
    text_append(out, "</section>\n");
}
