// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The report of a short run, as --json writes it.
#pragma once

#include "base/json_file.h"
#include "harness/command.h"
#include "harness/short_run.h"

// Runs harness/short_run with `extra`, expecting `outcome`; the report is in report.json of the
// folder. The caller owns it.
static inline json_t *reported_run(struct scratch *scratch, const char *extra, enum outcome outcome)
{
    char ini[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH];
    json_t *report = NULL;

    snprintf(ini, sizeof(ini), "%s", short_run_write(scratch, extra));
    snprintf(path, sizeof(path), "%s", scratch_path(scratch, "report.json"));
    struct printed printed =
        PRINTED(command_run_main, (char[]){"--config"}, ini, (char[]){"--json"}, path);

    cr_assert_eq(printed.outcome, outcome, "%s", printed.err);
    cr_assert_eq(json_file_load(path, &report), TAPML_OK, "%s", status_message());
    printed_release(&printed);
    return report;
}

static inline const char *reported_string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    cr_assert_not_null(value, "no text '%s'", key);
    return value;
}

static inline json_int_t reported_count(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    cr_assert(json_is_integer(value), "no count '%s'", key);
    return json_integer_value(value);
}
