// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a report says of the driver of a target: passed, or blamed, and then no op was judged.
#pragma once

#include "base/text.h"
#include "report/report_maker.h"
#include "report/report_rows.h"

// The member "driver_check" of a target's object. The caller takes over the object.
struct report_maker report_driver_make(const struct report_rows *rows);

// Why an instance was not judged, in a few words; "" if the driver is not blamed.
void report_driver_print_reason(const struct report_rows *rows, char *out, size_t size);

// Whether a target of a report's document has a driver that is blamed.
int report_driver_is_wrong(const json_t *target);

// Appends the command that makes the check of a blamed driver again: from its bundle in the folder
// `dir` of the run.
void report_driver_print_repeat(const json_t *target, const char *dir, struct text *out);

// Prints the line of a target to the standard output: passed, or what fails and how to repeat it.
tapml_status report_driver_print(const json_t *target, const char *dir) STATUS_USED;

// The same as a part of the page.
void report_driver_print_html(const json_t *target, struct text *out);
