// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The options that say in which process or on which machine a backend runs, and what ends a worker.
//
// Any thread. TAPML_INVALID for values that are none.
#pragma once

#include "config/options.h"
#include "exec/place.h"

// Those of commands whose backend may be on another machine.
#define WORKER_FAR_OPTIONS                                                                         \
    {"--url", "URL", "the backend is that of a worker on another machine, tapml://HOST:PORT"},     \
        {"--listen", "ADDRESS", "the same of a worker that dials; waits for it at HOST:PORT"},     \
    {                                                                                              \
        "--patience", "SECONDS", "for which that machine may be out of reach, 600 by default"      \
    }

// What ends a worker.
#define WORKER_LIMIT_OPTIONS                                                                       \
    {"--deadline", "SECONDS",                                                                      \
     "ends a worker that does not answer, 30 by default; without --isolation: in a worker"},       \
        {"--memory", "MIB",                                                                        \
         "ends a worker that takes more; by default three quarters of the machine's"},             \
        {"--limit-files", "N", "descriptors that a worker may have; by default as the host"},      \
        {"--limit-processes", "N",                                                                 \
         "processes and threads that the user may have while a worker starts one"},                \
    {                                                                                              \
        "--limit-cpu", "SECONDS", "processor time that a worker may take; by default any"          \
    }

// Reads the options --isolation, 'always', 'never' or 'loopback', those of a worker (--deadline,
// --memory, --limit-*), by which alone it is 'always', and those of another machine (--url,
// --listen, --patience); `*io_isolation` stays where they are absent.
tapml_status worker_options_read(const struct options *options,
                                 struct place_isolation *io_isolation) STATUS_USED;

// Whether the options say where a backend runs on this machine, so that nothing has to be chosen.
int worker_options_have_place(const struct options *options);
