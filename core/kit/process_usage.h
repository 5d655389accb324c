// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What this process holds of the system: what a plugin that is shut down has to have given back.
//
// Read from /proc. Any thread; nothing is kept.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct process_usage {
    size_t threads;
    size_t descriptors;
    size_t children;         // Processes that this one has started and that have not ended.
    uint64_t resident_bytes; // Of memory of its own.
};

// TAPML_UNAVAILABLE where /proc cannot be read.
tapml_status process_usage_read(struct process_usage *out_usage) STATUS_USED;
