// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The axes of invariance: what the bits of a result must not depend on (docs/invariance.md).
//
// Any thread.
#pragma once

#include "base/status.h"

enum invariance_axis {
    INVARIANCE_RUN,    // How often the op was called before.
    INVARIANCE_ROWS,   // How many rows lie beside a row; of ops without states.
    INVARIANCE_CHUNK,  // In how many calls the tokens of a prompt come; of ops with states.
    INVARIANCE_VERIFY, // Whether drafted tokens come at once or one at a time; likewise.
    INVARIANCE_ORDER,  // Whether another queue of the device is busy.
    INVARIANCE_PARTS,  // Whether it is computed in parts, as the op's definition says it can be.
    INVARIANCE_STRESS, // Repetitions beside a busy queue, for long: a share of the cases that pass.
    INVARIANCE_AXES
};

// What [check] of a run's INI file asks for.
struct invariance_settings {
    unsigned axes; // Bits 1 << enum invariance_axis.
    double stress; // The share of passing cases that is repeated under load, above 0, or 0.
};

// "run"; static. "stress" is no word of the key: it has one of its own.
const char *invariance_axis_name(enum invariance_axis axis);

// What the size of a finding counts: "repetitions"; and the words before and behind that number in
// a sentence: "at repetition ", "". Static.
const char *invariance_axis_unit(enum invariance_axis axis);
const char *invariance_axis_before(enum invariance_axis axis);
const char *invariance_axis_behind(enum invariance_axis axis);

// Reads axes, with commas or blanks between, into `io_settings`. TAPML_INVALID: none, one that is
// given twice, or an unknown one, with the nearest.
tapml_status invariance_axis_read(const char *words,
                                  struct invariance_settings *io_settings) STATUS_USED;

// Reads a share such as "2%", above 0 and at most 100 %. TAPML_INVALID for anything else.
tapml_status invariance_axis_read_stress(const char *word,
                                         struct invariance_settings *io_settings) STATUS_USED;
