// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The run lock: which host works in the folder of a run, and its progress. The file is `run.lock`.
//
// The file is locked while a host works, and the system takes the lock away however that host ends.
// Its text is one JSON object, which the host rewrites in place, so that a full disk does not
// hinder it, and which outlives the host. Reading it takes no lock and disturbs no host.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct run_lock;

// Takes the folder for this process. TAPML_UNAVAILABLE where another host has it, with its process,
// machine and since when. The caller owns the lock, and releases it last.
tapml_status run_lock_take(const char *folder, struct run_lock **out_lock) STATUS_USED;
void run_lock_release(struct run_lock *lock);

// The progress of a phase. `left_s`, in seconds, is NaN if it is unknown.
struct run_lock_phase {
    const char *name; // "replay on gpu"
    const char *unit; // "cases", or "".
    size_t done, all; // 0 of 0 where nothing is counted.
    double left_s;
};

// Writes the progress. A failure is ignored: no result depends on it. NULL as `lock` is allowed.
void run_lock_publish(struct run_lock *lock, const struct run_lock_phase *phase);

// Writes how the work ended: the exit code, and the message of a failure or "". A phase that was
// not ended is kept.
void run_lock_end(struct run_lock *lock, int exit_code, const char *message);

enum { RUN_LOCK_NAME_TEXT = 128, RUN_LOCK_MESSAGE_TEXT = 512 };

// The contents of the file.
struct run_lock_state {
    int is_held;  // A host works there now.
    int has_text; // There is a file; else the rest is empty.
    int64_t process;
    char machine[RUN_LOCK_NAME_TEXT];
    int64_t since_s, published_s; // Seconds since 1970.
    char phase[RUN_LOCK_NAME_TEXT];
    char unit[RUN_LOCK_NAME_TEXT];
    int64_t done, all;
    double left_s; // NaN where unknown.
    int has_ended; // The last host ended by itself, with:
    int64_t exit_code;
    char message[RUN_LOCK_MESSAGE_TEXT];
};

// Reads the file of a run, without the lock. The host that has the lock must not call it: the
// system would release the lock. A folder without the file, or with one that is being written, is
// no failure.
tapml_status run_lock_read(const char *folder, struct run_lock_state *out_state) STATUS_USED;
