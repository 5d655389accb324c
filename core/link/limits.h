// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the system lets a worker take, whatever its plugin does. Memory is not among it: drivers
// reserve addresses that they never use, so the host looks at what a worker has (link/child.h).
#pragma once

#include "base/status.h"

#include <stdint.h>

enum { LIMITS_MAX = 1 << 30 };

// 0: as in the process that starts it.
struct worker_limits {
    int64_t files;     // Descriptors of the worker at once.
    int64_t processes; // Processes and threads of its user, those that there are already included;
                       // root is not limited.
    int64_t cpu_s;     // Seconds of processor time, beyond which it gets SIGXCPU, and SIGKILL a
                       // second later.
};

// Sets them for this process, and those that it starts, for good: it cannot raise them again. A
// limit that is lower already stays. TAPML_UNAVAILABLE where the system refuses.
tapml_status limits_set(const struct worker_limits *limits) STATUS_USED;
