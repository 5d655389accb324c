// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Opens plugins in worker processes (`struct place_isolation` in exec/place.h); config/survey asks
// what they are.
#pragma once

#include "exec/place.h"
#include "link/message.h"
#include "plugin/registry.h"
#include "verify/fault.h"

enum { ISOLATION_DEADLINE_S = 30, ISOLATION_DEADLINE_MAX_S = 86400 };

struct isolation_options {
    const char *program; // Of this process, for isolation_find_worker.
    struct registry *registry;
    const struct ini *ini;          // For [component.*]; or NULL.
    uint32_t threads;               // Of the pool.
    const struct fault_rule *rules; // Planted in the worker.
    size_t rule_count;
    struct tuned_settings tuned; // Of the kernels there; borrowed.
    struct arena *arena;         // Outlives the registry's use of the ops and the backend.
    struct timeline *timeline;   // Of the traffic with another machine; borrowed; or NULL.
};

// Opens a backend in a worker. Nothing of its plugin runs here.
tapml_status isolation_open(const struct isolation_options *options,
                            const struct place_isolation *how,
                            const char *backend,
                            struct backend **out_backend) STATUS_USED;

// The path of tapml-worker, freed by alloc_free: from the folder of `program`, where it is
// installed
// (../libexec/tapml/1), else beside it, as in a build tree; failing that, from the folder of this
// process. TAPML_UNAVAILABLE where there is none.
tapml_status isolation_find_worker(const char *program, char **out_path) STATUS_USED;

// "never" and so on; 0 where it is none of them.
int isolation_parse(const char *word, enum place_isolation_mode *out_mode);
