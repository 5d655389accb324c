// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_driver.h"

#include "report/report_markup.h"

#include <stdio.h>
#include <string.h>

// The last check that was made, or NULL.
static const struct step_row *find_step(const struct report_rows *rows)
{
    const struct step_row *found = NULL;

    for (size_t i = 0; i < rows->step_count; i++) {
        const char *verdict = rows->steps[i].verdict;

        if (strcmp(verdict, STEP_PASSED) == 0 || strcmp(verdict, STEP_FAILED) == 0) {
            found = &rows->steps[i];
        }
    }
    return found;
}

struct report_maker report_driver_make(const struct report_rows *rows)
{
    const struct blame_row *blame = rows->driver;
    const struct bundled_row *bundle = report_rows_bundle(rows, BLAME_DRIVER);
    const struct bundled_row *program = report_rows_bundle(rows, BUNDLED_PROGRAM);
    const struct step_row *step = find_step(rows);
    struct report_maker part = report_maker_begin();

    if (blame != NULL) {
        report_maker_text(&part, "verdict", "failed");
        report_maker_text(&part, "sentence", blame->reason);
        report_maker_text(&part, "check", blame->source);
        report_maker_text(&part, "repeat", blame->label);
        report_maker_text(&part, "bundle", bundle != NULL ? bundle->file : "");
        report_maker_text(&part, "program", program != NULL ? program->file : "");
        report_maker_text(&part, "command", bundle != NULL ? bundle->command : "");
    } else {
        report_maker_text(&part, "verdict", step != NULL ? "passed" : "not made");
        report_maker_text(&part, "sentence", step != NULL ? step->reason : "no check was made");
    }
    return part;
}

void report_driver_print_reason(const struct report_rows *rows, char *out, size_t size)
{
    out[0] = '\0';
    if (rows->driver != NULL) {
        (void)snprintf(out, size, "not judged: the driver's '%.80s' is wrong",
                       rows->driver->source);
    }
}

static const json_t *check_of(const json_t *target)
{
    return json_object_get(target, "driver_check");
}

int report_driver_is_wrong(const json_t *target)
{
    return strcmp(report_markup_string(check_of(target), "verdict"), "failed") == 0;
}

void report_driver_print_repeat(const json_t *target, const char *dir, struct text *out)
{
    const json_t *check = check_of(target);
    const char *command = report_markup_string(check, "command");

    if (!report_markup_command(command, report_markup_string(check, "bundle"), dir, out)) {
        text_append(out, command); // Of an earlier version: without a bundle.
    }
}

static void print_program(const json_t *check, const char *dir, struct text *out)
{
    const char *program = report_markup_string(check, "program");

    if (*program != '\0') {
        text_format(out, "  for the vendor of the driver, a program: %s/%s\n", dir, program);
    }
}

tapml_status report_driver_print(const json_t *target, const char *dir)
{
    const json_t *check = check_of(target);
    struct text text;

    text_init(&text);
    if (report_driver_is_wrong(target)) {
        text_format(&text, "blamed: the driver of %s: its '%s' is wrong: %s (%s)\n  ",
                    report_markup_string(target, "name"), report_markup_string(check, "check"),
                    report_markup_string(check, "sentence"), report_markup_string(check, "repeat"));
        report_driver_print_repeat(target, dir, &text);
        text_append(&text, "\n");
        print_program(check, dir, &text);
    } else {
        text_format(&text, "driver: %s\n", report_markup_string(check, "sentence"));
    }
    return text_print(&text);
}

void report_driver_print_html(const json_t *target, struct text *out)
{
    const json_t *check = check_of(target);

    if (!report_driver_is_wrong(target)) {
        REPORT_MARKUP(out, "<p class=\"soft\">The driver: {}.</p>\n",
                      report_markup_string(check, "sentence"));
        return;
    }
    REPORT_MARKUP(out,
                  "<article class=\"blamed\"><h3>The driver <span class=\"where\">its check "
                  "<code>{}</code></span></h3>\n<p>Wrong below every operator, without the model: "
                  "{}.</p>\n<p class=\"soft\">{}</p>\n<p>This command makes the check "
                  "again, in this folder:</p>\n<pre class=\"tell\" tabindex=\"0\">{}</pre>\n",
                  report_markup_string(check, "check"), report_markup_string(check, "sentence"),
                  report_markup_string(check, "repeat"), report_markup_string(check, "command"));
    if (report_markup_string(check, "program")[0] != '\0') {
        REPORT_MARKUP(out,
                      "<p>For the vendor of the driver, a program that needs nothing of TapML: "
                      "<code>{}</code></p>\n",
                      report_markup_string(check, "program"));
    }
    text_append(out, "</article>\n");
}
