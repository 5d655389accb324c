// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A report without what says something about prompts, or names files of the machine of the run. A
// report has no text of a prompt and no token; what remains of them is by what they could be
// guessed:
//
// - the hash of the prompts,
// - of an op whose numbers tell what tokens went in (run/op_integers.h), or that this host does not
//   know: the content keys of its cases, the values that are shown, and sentences with such values,
// - of commands all but the program and the file that they are about.
//
// Activations of other ops stay, a few numbers of each failure, as in a redacted pack.
#pragma once

#include "base/status.h"

#include <jansson.h>

// Changes a report's document (report/report_data.h). One thread. TAPML_NO_MEMORY.
tapml_status redaction_apply(json_t *report) STATUS_USED;
