// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of tapml-worker that serves hosts on other machines: plugins are those that are
// installed here, and each host's runs in a worker process of its own. docs/remote.md has the use.
#pragma once

#include "run/outcome.h"

#include <stddef.h>
#include <stdint.h>

enum { FAR_WORKER_CACHE_MIB = 8192, FAR_WORKER_DIALS_MAX = 16 };

struct far_worker_options {
    const char *program;                     // The path of this program.
    const char *address;                     // HOST:PORT at which it listens; or NULL.
    const char *dials[FAR_WORKER_DIALS_MAX]; // URLs of hosts that wait,
    size_t dial_count;                       // and their number.
    const char *cache; // A folder; NULL: tapml/far in the user's folder of caches.
    int64_t cache_mib; // That each host may fill.
};

// Listens and dials until the process is asked to end (SIGINT, SIGTERM). Lines on the standard
// output tell the port, and each address that is dialled.
enum outcome far_worker_serve(const struct far_worker_options *options);
