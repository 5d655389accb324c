// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a kernel is found to be (verify/conduct.h).
#pragma once

// What is wrong, the first of these that explains the smallest failure.
enum conduct_kind {
    CONDUCT_RIGHT,
    CONDUCT_UNSUPPORTED, // No case was run: the first refusal is the reason.
    CONDUCT_FAILS,       // A call fails or crashes.
    CONDUCT_NO_ANSWER,   // A call takes longer than it may.
    CONDUCT_BY_CALLS,    // Right for the first calls: the n-th one with the same inputs is wrong.
    CONDUCT_BY_ADDRESS,  // Wrong where other inputs lie at the addresses of earlier ones.
    CONDUCT_BY_HISTORY,  // Right as the first call of a process, wrong after others.
    CONDUCT_LATE_WORK,   // Outputs are right some time after the work was said to be done.
    CONDUCT_OLD_MEMORY,  // Right only where the outputs are zero before the call.
    CONDUCT_INPUTS,      // Changes an input.
    CONDUCT_OUTSIDE,     // Writes outside of its outputs.
    CONDUCT_UNWRITTEN,   // Leaves a part of an output as it was.
    CONDUCT_PRECISION,   // Right in an arithmetic that it does not declare.
    CONDUCT_SHAPES,      // Right at the shapes of the kept cases alone.
    CONDUCT_VALUES,      // Right with the values of the kept cases alone.
    CONDUCT_TOO_FAST,    // Returns before its outputs can have been written.
    CONDUCT_WRONG,
    CONDUCT_KINDS
};

// "right", "wrong", "cached by address". Static.
const char *conduct_kind_name(enum conduct_kind kind);
