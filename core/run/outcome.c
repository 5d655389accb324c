// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/outcome.h"

#include "base/log.h"
#include "base/output.h"
#include "base/sentence.h"

#include <stddef.h>
#include <stdio.h>

const struct outcome_meaning outcome_meanings[] = {
    {OUTCOME_OK, "success"},
    {OUTCOME_WRONG, "a target is wrong or two runs differ"},
    {OUTCOME_USAGE, "usage or configuration"},
    {OUTCOME_ENVIRONMENT, "the environment lacks something"},
    {OUTCOME_UNKNOWN, "of 'replay --bisect': neither right nor wrong can be told"},
    {OUTCOME_INTERRUPTED, "interrupted"},
    {0, NULL},
};

static const char *program = "tapml-host";

void outcome_set_program(const char *name)
{
    program = name;
}

enum outcome outcome_of(tapml_status status)
{
    switch (status) {
    case TAPML_OK:
        return OUTCOME_OK;
    case TAPML_CANCELLED:
        return OUTCOME_INTERRUPTED;
    case TAPML_INVALID:
    case TAPML_NOT_FOUND:
    case TAPML_PRECONDITION:
    case TAPML_UNIMPLEMENTED:
        return OUTCOME_USAGE;
    default:
        return OUTCOME_ENVIRONMENT;
    }
}

enum outcome outcome_report(tapml_status status)
{
    if (status != TAPML_OK) {
        (void)fflush(stdout); // What was printed before comes first.
        if (status == TAPML_CANCELLED) {
            interrupt_told();
        }
        log_hide();
        log_say("%s: %.*s", program, SENTENCE_BYTES, status_message()); // As it was shortened.
    }
    return outcome_of(status);
}

enum outcome outcome_finish(enum outcome outcome)
{
    const int is_success = outcome == OUTCOME_OK || outcome == OUTCOME_WRONG;

    return is_success && output_check() != TAPML_OK ? outcome_report(TAPML_UNAVAILABLE) : outcome;
}
