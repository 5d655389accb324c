// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `stage`: where the time of a run went, of each target and of the run itself, whose name
// here is STAGE_RUN. The rows are those of the last start that did the work; docs/bottleneck.md
// says what phases and stages there are. Rows of the phase STAGE_PIPELINE are no times that add up:
// they are what the replay of kept cases was like.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define STAGE_RUN      ""
#define STAGE_PIPELINE "pipeline"

struct stage_row {
    const char *phase; // "replay"
    const char *stage; // "read"
    uint64_t visits, bytes;
    uint64_t wall_ns, waiting_ns;
};

// Writes the rows of a target in the place of those that it has.
tapml_status stage_write(struct store *store,
                         const char *target,
                         const struct stage_row *rows,
                         size_t count) STATUS_USED;

// The rows of a target, in the order in which they were written.
tapml_status stage_list(struct store *store,
                        const char *target,
                        struct arena *arena,
                        struct stage_row **out_rows,
                        size_t *out_count) STATUS_USED;

// Deletes the rows of a target.
tapml_status stage_forget(struct store *store, const char *target) STATUS_USED;
