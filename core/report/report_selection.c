// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_selection.h"

#include "base/text.h"
#include "report/report_markup.h"
#include "store/metadata.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NAME_TEXT = 256 };

// Metadata that verify/chosen_cases.h writes.
static const char *find(const struct report_rows *rows, const char *what)
{
    char name[NAME_TEXT];

    (void)snprintf(name, sizeof(name), "select.%.200s%s", rows->target.name, what);
    const char *value = metadata_get(rows->store, name);

    return value != NULL ? value : "";
}

void report_selection_put(const struct report_rows *rows, struct report_maker *target)
{
    struct report_maker part = report_maker_begin();
    double share = NAN;

    report_maker_text(&part, "budget", find(rows, ".budget"));
    if (text_parse_f64(find(rows, ".share"), &share) != TAPML_OK) {
        share = NAN;
    }
    report_maker_text(&part, "policy", find(rows, ".policy"));
    report_maker_put(&part, "share", report_maker_margin(share));
    report_maker_text(&part, "sentence", find(rows, ""));
    report_maker_part(target, "selection", &part);
}

static int64_t count_not_run(const json_t *target)
{
    return report_markup_count(json_object_get(target, "counts"), "not_run");
}

static const char *sentence_of(const json_t *target)
{
    const char *sentence = report_markup_string(json_object_get(target, "selection"), "sentence");

    return *sentence != '\0' ? sentence : "the next start replays them";
}

void report_selection_print(const json_t *target)
{
    if (count_not_run(target) > 0) {
        (void)printf("not run: %" PRId64 " kept cases: %s\n", count_not_run(target),
                     sentence_of(target));
    }
}

void report_selection_print_html(const json_t *target, struct text *out)
{
    char count[REPORT_MARKUP_SHORT];

    if (count_not_run(target) > 0) {
        REPORT_MARKUP(out,
                      "<p class=\"note\"><b>{} kept cases were not run</b> here, and nothing is "
                      "said of them: {}.</p>\n",
                      report_markup_thousands(count_not_run(target), count), sentence_of(target));
    }
}
