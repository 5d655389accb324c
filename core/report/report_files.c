// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_files.h"

#include "base/file.h"
#include "base/json_file.h"
#include "base/output.h"
#include "report/report_html.h"
#include "report/report_junit.h"

enum { REAL_DIGITS = 9 }; // What an f32 needs to be the same again.

static void print_json(const json_t *report, struct text *out)
{
    const size_t flags =
        JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION((size_t)REAL_DIGITS);

    json_file_print(out, report, flags);
    text_append(out, "\n");
}

tapml_status
report_files_write_as(const json_t *document, report_files_print_fn print, const char *path)
{
    struct text text;

    text_init(&text);
    print(document, &text);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        status = file_write(path, text.data, text.length);
    }
    text_release(&text);
    return status;
}

tapml_status report_files_write_json(const json_t *document, const char *path)
{
    return report_files_write_as(document, print_json, path);
}

tapml_status report_files_try(const char *first, const char *second)
{
    TAPML_TRY(output_try());
    TAPML_TRY(first != NULL ? file_try_writing(first) : TAPML_OK);
    return second != NULL ? file_try_writing(second) : TAPML_OK;
}

tapml_status report_files_write(const json_t *report, const struct report_files *files)
{
    struct text path;

    if (files->json != NULL) {
        TAPML_TRY(report_files_write_json(report, files->json));
    }
    if (files->junit != NULL) {
        TAPML_TRY(report_files_write_as(report, report_junit_print, files->junit));
    }
    text_init(&path);
    text_format(&path, "%s/report.html", files->dir);
    tapml_status status = text_status(&path);

    if (status == TAPML_OK) {
        status = report_files_write_as(report, report_html_print, path.data);
    }
    text_release(&path);
    return status;
}
