// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/outcome.h"

#include <stdio.h>

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
        (void)fprintf(stderr, "tapml-host: %s\n", status_message());
    }
    return outcome_of(status);
}
