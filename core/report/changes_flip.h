// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What became of one case over several runs (report/history.h): whether its verdict has flipped,
// since which run, and what was new in that run; and whether its margin has crept.
#pragma once

#include "report/history.h"

enum changes_flip_kind {
    CHANGES_STEADY,   // As in the first run that has the case, or only the last one has it.
    CHANGES_BROKE,    // It fails now, and did not.
    CHANGES_FIXED,    // It passes now, and failed.
    CHANGES_UNSTEADY, // It went from pass to failure and back, or the other way, at least.
    CHANGES_LOST,     // It passed, and is not judged any more.
    CHANGES_DROPPED,  // It failed, and is not judged any more.
    CHANGES_GAINED,   // It was not judged, and passes.
    CHANGES_GONE      // The last run does not have it.
};

enum { CHANGES_FLIPS = CHANGES_GONE + 1 };

struct changes_flip {
    enum changes_flip_kind kind;
    size_t since;  // The run from which on its verdict is of the class of today,
    size_t before; // and the last one before that which has the case. Both 0 of a steady one.
};

struct changes_flip changes_flip_of(const struct history *history, size_t index);

// "broke", "fixed" ... Static.
const char *changes_flip_name(enum changes_flip_kind kind);

// Whether all runs that have the case have it with the same content key.
int changes_flip_has_one_content(const struct history *history, size_t index);

// What differs between the runs `before` and `since` of what the case ran on and by: texts such as
// "driver: 1.2 -> 1.3". NULL where there is no memory; the caller owns the array.
json_t *
changes_flip_causes(const struct history *history, size_t index, const struct changes_flip *flip);

// Of a case that passed in the first run that has it and passes in the last one: which part of the
// room that its margin left there is gone, from 0 to 1; below 0 if there is more room now. NaN of
// all others.
double changes_flip_creep(const struct history *history, size_t index);
