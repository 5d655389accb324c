// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How many files a process may have open. Each shard of a model keeps one, each worker two, a store
// three; the limit of a shell (ulimit -n) may be too low for a model of many shards.
#pragma once

#include "base/status.h"

#include <stddef.h>

enum {
    // Of a run beside the files of its model: eight workers with two each, out of the way of the
    // first 64, memory that is shared with them, stores, output.
    DESCRIPTORS_SPARE = 160,
    DESCRIPTORS_WHY_TEXT = 192
};

// Sees that `count` more files can be open, and DESCRIPTORS_SPARE beside them: raises the limit as
// far as the system lets this process. TAPML_UNAVAILABLE where that is not enough, with the number
// that is needed and the command that gives it; `who` needs them.
tapml_status descriptors_expect(const char *who, size_t count) STATUS_USED;

// What `error`, an errno, means, as strerror says it; that no more files can be open with the
// number, in `room`, that would do.
const char *descriptors_why(int error, char room[DESCRIPTORS_WHY_TEXT]);
