// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The channel to a worker process: starts the process, watches it, and reports how it ended.
//
// The child has a session of its own and inherits only its end of the socket, as descriptor
// CHILD_SOCKET. The output of its two standard streams goes to the host's error stream, and the
// last lines are kept. While the host waits for it, the host watches time, memory and end of the
// child. All processes that it has started end with it.
//
// One thread, that of the channel's owner.
#pragma once

#include "link/channel.h"
#include "link/limits.h"

enum { CHILD_SOCKET = 3 };

struct child_options {
    const char *program;         // The path of tapml-worker. Copied.
    uint64_t memory_bytes;       // Limit of its own memory; it is ended beyond. 0: no limit.
    struct worker_limits limits; // What the system lets it take.
    int is_silent;               // Its output is kept, but not printed.
};

// Creates the channel without starting the process. The caller owns it.
tapml_status child_create(const struct child_options *options,
                          struct channel **out_channel) STATUS_USED;

// The socket of the process, to be polled together with others before `channel_receive`; -1 while
// there is no process. It stays the channel's.
int child_socket(const struct channel *channel);

// -- Any program, with a time limit ------------------------------------------------------------

struct child_output {
    char *text;       // Of its standard output; ended by a zero byte. The caller frees it.
    char ending[256]; // How it ended, if it failed: "was killed by SIGSEGV"; else "".
    int was_killed;   // By SIGKILL, which this process has not sent.
    int was_late;     // It did not end in time, and was ended.
    char last_words[1024];
};

// Runs a program to its end, as a child with the rules above, for at most `timeout_ns`. `arguments`
// begin with its path and end with NULL. A program that fails is no failure of this call.
tapml_status child_run(const char *const *arguments,
                       uint64_t timeout_ns,
                       struct child_output *out_output) STATUS_USED;
