// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_result.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>

const char *kit_result_outcome_name(enum kit_outcome outcome)
{
    static const char *const names[KIT_OUTCOME_COUNT] = {
        "passed", "warned", "failed", "crashed", "timed out", "skipped", "expected"};

    ASSERT(outcome < KIT_OUTCOME_COUNT);
    return names[outcome];
}

// The first of the worst is told.
static int is_told(const struct kit_result *result, enum kit_outcome outcome)
{
    return result->outcome == KIT_PASSED ||
           (result->outcome == KIT_WARNED && outcome != KIT_WARNED);
}

void kit_result_fail(struct kit_result *io_result, const char *format, ...)
{
    va_list arguments;

    if (!is_told(io_result, KIT_FAILED)) {
        return;
    }
    io_result->outcome = KIT_FAILED;
    va_start(arguments, format);
    (void)vsnprintf(io_result->reason, sizeof(io_result->reason), format, arguments);
    va_end(arguments);
}

void kit_result_warn(struct kit_result *io_result, const char *format, ...)
{
    va_list arguments;

    if (!is_told(io_result, KIT_WARNED)) {
        return;
    }
    io_result->outcome = KIT_WARNED;
    va_start(arguments, format);
    (void)vsnprintf(io_result->reason, sizeof(io_result->reason), format, arguments);
    va_end(arguments);
}

void kit_result_skip(struct kit_result *io_result, const char *format, ...)
{
    va_list arguments;

    if (!is_told(io_result, KIT_SKIPPED)) {
        return;
    }
    io_result->outcome = KIT_SKIPPED;
    va_start(arguments, format);
    (void)vsnprintf(io_result->reason, sizeof(io_result->reason), format, arguments);
    va_end(arguments);
}

void kit_result_lack_device(struct kit_result *io_result)
{
    io_result->lacks_device = io_result->outcome == KIT_SKIPPED;
}

int kit_result_is_good(const struct kit_result *result)
{
    return result->outcome == KIT_PASSED || result->outcome == KIT_WARNED;
}

int kit_result_is_wrong(const struct kit_result *result)
{
    return result->outcome == KIT_FAILED || result->outcome == KIT_CRASHED ||
           result->outcome == KIT_TIMED_OUT;
}
