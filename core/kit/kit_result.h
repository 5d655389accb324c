// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What became of a check of the conformance kit.
//
// Plain data; any thread, one at a time. Nothing fails.
#pragma once

#include "base/status.h"

enum kit_outcome {
    KIT_PASSED,
    KIT_WARNED, // Allowed, and yet to be looked at.
    KIT_FAILED,
    KIT_CRASHED, // The process ended by itself, or was ended by a signal.
    KIT_TIMED_OUT,
    KIT_SKIPPED,  // There is nothing here to make the check on.
    KIT_EXPECTED, // It fails, as its author says (kit/kit_expectation.h).
    KIT_OUTCOME_COUNT
};

enum { KIT_REASON_BYTES = 512 };

// Plain data. All zeros is a pass.
struct kit_result {
    enum kit_outcome outcome;
    char reason[KIT_REASON_BYTES]; // A sentence for all but a pass.
    int lacks_device; // Skipped for want of a driver or a device: the component cannot be checked.
};

// "passed", "warned", "failed", "crashed", "timed out", "skipped", "expected". Static.
const char *kit_result_outcome_name(enum kit_outcome outcome);

// Sets outcome and reason, formatted as by printf, unless a worse one is there already: the first
// failure is the one that is told.
void kit_result_fail(struct kit_result *io_result, const char *format, ...) STATUS_PRINTF(2, 3);
void kit_result_warn(struct kit_result *io_result, const char *format, ...) STATUS_PRINTF(2, 3);
void kit_result_skip(struct kit_result *io_result, const char *format, ...) STATUS_PRINTF(2, 3);

// Notes of a result that was skipped that a driver or a device is missing. Of any other nothing.
void kit_result_lack_device(struct kit_result *io_result);

// Whether it may go on: nothing has failed, and it was not skipped.
int kit_result_is_good(const struct kit_result *result);

// Whether the plugin breaks the rule: it failed, crashed or timed out.
int kit_result_is_wrong(const struct kit_result *result);
