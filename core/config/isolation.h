// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Opens, checks and probes plugins in worker processes (`struct place_isolation` in exec/place.h).
#pragma once

#include "exec/place.h"
#include "link/message.h"
#include "plugin/registry.h"
#include "verify/fault.h"

enum { ISOLATION_DEADLINE_S = 30, ISOLATION_DEADLINE_MAX_S = 86400, ISOLATION_PROBE_S = 20 };

struct isolation_options {
    const char *program; // Of this process: tapml-worker lies beside it.
    struct registry *registry;
    const struct ini *ini;          // For [component.*]; or NULL.
    uint32_t threads;               // Of the pool.
    const struct fault_rule *rules; // Planted in the worker.
    size_t rule_count;
    struct arena *arena; // Outlives the registry's use of the ops and the backend.
};

// Opens a backend in a worker. Nothing of its plugin runs here.
tapml_status isolation_open(const struct isolation_options *options,
                            const struct place_isolation *how,
                            const char *backend,
                            struct backend **out_backend) STATUS_USED;

// Whether a backend can be used where `how` says, as registry_check, which it asks where the plugin
// runs here. A worker is asked only for a device that is named.
tapml_status isolation_check(const char *program,
                             struct registry *registry,
                             const struct place_isolation *how,
                             const char *backend) STATUS_USED;

// Probes every plugin that can be, each in a worker of its own, and settles the entries.
tapml_status isolation_probe_all(const char *program, struct registry *registry) STATUS_USED;

// "never" and so on; 0 where it is none of them.
int isolation_parse(const char *word, enum place_isolation_mode *out_mode);
