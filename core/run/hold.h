// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Who works in the folder of a run, and how far it is: `run.lock` in that folder.
//
// The file is locked while a host works, and the system takes the lock away however that host ends.
// Its text is one JSON object, which the host rewrites in place, so that a full disk does not
// hinder it, and which outlives the host. Reading it takes no lock and disturbs nobody.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct hold;

// Takes the folder for this process. TAPML_UNAVAILABLE where another host has it, with its process,
// machine and since when. The caller owns the hold, and releases it last.
tapml_status hold_take(const char *folder, struct hold **out_hold) STATUS_USED;
void hold_release(struct hold *hold);

// What a phase tells of itself. `left_s` is NaN where nobody can know.
struct hold_phase {
    const char *name; // "replay on gpu"
    const char *unit; // "cases", or "".
    size_t done, all; // 0 of 0 where nothing is counted.
    double left_s;
};

// Writes how far the work is. What cannot be written is left out: it is news, not a result.
// NULL as `hold` is allowed.
void hold_tell(struct hold *hold, const struct hold_phase *phase);

// Writes how the work ended: the exit code, and the message of a failure or "". A phase that was
// not ended is kept.
void hold_end(struct hold *hold, int exit_code, const char *message);

enum { HOLD_NAME_TEXT = 128, HOLD_MESSAGE_TEXT = 512 };

// What the file of a run says.
struct hold_state {
    int is_held;  // A host works there now.
    int has_text; // There is a file; else the rest is empty.
    int64_t process;
    char machine[HOLD_NAME_TEXT];
    int64_t since_s, told_s; // Seconds since 1970.
    char phase[HOLD_NAME_TEXT];
    char unit[HOLD_NAME_TEXT];
    int64_t done, all;
    double left_s; // NaN where unknown.
    int has_ended; // The last host ended by itself, with:
    int64_t exit_code;
    char message[HOLD_MESSAGE_TEXT];
};

// Reads the file of a run, for those who do not hold it: their own hold would end by it. A folder
// without one, or with one that is being written, is no failure.
tapml_status hold_read(const char *folder, struct hold_state *out_state) STATUS_USED;
