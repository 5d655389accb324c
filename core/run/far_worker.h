// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of tapml-worker that serves hosts on other machines: plugins are those that are
// installed here, and each host's runs in a worker process of its own. docs/remote.md has the use.
#pragma once

#include "run/outcome.h"

#include <stdint.h>

struct far_worker_options {
    const char *program; // The path of this program.
    const char *address; // HOST:PORT.
    const char *cache;   // A folder; NULL: tapml/far in the user's folder of caches.
    int64_t cache_mib;   // That each host may fill.
};

enum { FAR_WORKER_CACHE_MIB = 8192 };

// Listens until the process is asked to end (SIGINT, SIGTERM). A line on the standard output tells
// the port.
enum outcome far_worker_listen(const struct far_worker_options *options);
