// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a report says first of a target, and last: whether it is right, else what is wrong with it.
// And how its text ends: the verdicts, where the page is, and what to do next.
//
// All functions read a report's document. Names that are returned belong to it.
#pragma once

#include "base/text.h"

#include <jansson.h>

enum report_verdict {
    REPORT_RIGHT,
    REPORT_DRIVER,      // The driver is wrong; no op was judged.
    REPORT_OPS,         // Ops are blamed.
    REPORT_DIVERGES,    // The model does, with nothing left to blame.
    REPORT_UNEXPLAINED, // It did, and no op could be blamed.
    REPORT_DERIVED,     // Only cases that were made up around the run's own fail.
    REPORT_VARIES,      // An op is wrong where only invariance was looked at.
    REPORT_LACKS,       // The target refuses what it was asked to run.
    REPORT_STALE        // Nothing is wrong, but results are not of what the target is now.
};

enum report_verdict report_verdict_of(const json_t *target);

// What the whole model does under the final plan.
enum report_model {
    REPORT_MODEL_AGREES,
    REPORT_MODEL_DIVERGES,
    REPORT_MODEL_NOT_JUDGED // The driver is wrong, or there is no model to run, only cases.
};

enum report_model report_verdict_model(const json_t *target);

// "agrees", "diverges", "not judged". Static.
const char *report_verdict_model_name(enum report_model model);

enum { REPORT_VERDICT_OPS = 256 };

// The op kinds that are blamed (REPORT_OPS) or fail in derived cases (REPORT_DERIVED), each once
// and without the prefix of ours, in the order of the document.
size_t report_verdict_ops(const json_t *target,
                          enum report_verdict verdict,
                          const char *names[REPORT_VERDICT_OPS]);

// Appends the verdict as a line: "gpu: all 76 instances right", "rope is wrong on gpu: ...". With
// `is_coloured` it has the colour of a good or a bad one on a terminal.
void report_verdict_print(const json_t *target, int is_coloured, struct text *out);

// Whether an item of the document's `given_up` is a target that the run has not come to, or not
// ended: it is no less there for that.
int report_verdict_is_unfinished(const json_t *given_up);

// Appends the command that repeats a fault from its bundle in the folder `dir` of the run; 0: a
// blamed item of the document has none.
int report_verdict_print_repeat(const json_t *blamed, const char *dir, struct text *out);

// Appends the end: a line for each target, the page in the folder `dir` of the run, and a command
// for a shell that goes on from there.
void report_verdict_print_end(const json_t *report,
                              const char *dir,
                              int is_coloured,
                              struct text *out);
