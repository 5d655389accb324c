// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The channel to a worker process: starts it, watches it, and says how it ended.
//
// The child has a session of its own and inherits nothing but its end of the socket, which is
// descriptor CHILD_SOCKET there; what it writes to its two standard streams comes to the host's
// error stream, and the last lines are kept. It is watched while it is waited for: time, memory
// and end. Whatever it started goes with it.
#pragma once

#include "link/channel.h"

enum { CHILD_SOCKET = 3 };

struct child_options {
    const char *program;   // The path of tapml-worker. Copied.
    uint64_t memory_bytes; // Of its own; beyond that it is ended. 0: no limit.
    int is_silent;         // Its words are kept, and not shown.
};

tapml_status child_create(const struct child_options *options,
                          struct channel **out_channel) STATUS_USED;

// -- Any program, with a time limit ------------------------------------------------------------

struct child_output {
    char *text;       // Of its standard output; ended by a zero byte. The caller frees it.
    char ending[256]; // How it ended, where it did not end well: "was killed by SIGSEGV"; or "".
    char last_words[1024];
};

// Runs `arguments` (a path first, ended by NULL) as a tidy child to its end, for at most
// `timeout_ns`.
tapml_status child_run(const char *const *arguments,
                       uint64_t timeout_ns,
                       struct child_output *out_output) STATUS_USED;
