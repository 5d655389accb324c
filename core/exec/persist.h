// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Work on backends whose processes somebody else may kill: by hand, or as the system does that runs
// out of memory. Such an end says nothing about the work, which is repeated alone, in a new process
// whose memory is watched, before anything is judged:
//
//     persist_begin(&persist, backend); // And persist_add for each other one.
//     do {
//         status = work();
//     } while (persist_again(&persist, &status));
//
// Work that is killed PERSIST_TRIES times is the cause itself if harmless work beside it, which
// takes as long, lives: its failure then stands. Else the process is killed whatever it does, and
// the device is given up: TAPML_DEVICE_LOST. Work that came to its end although contents of its
// memory were lost amidst of it is repeated too; the last try stands. One thread; a line of the log
// for each repetition.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct backend;
struct child_output;

enum { PERSIST_TRIES = 3, PERSIST_BACKENDS_MAX = 8 };

// A backend, and what it was when the try at hand began.
struct persist_backend {
    struct backend *backend; // Borrowed.
    uint64_t kills, generation;
};

struct persist {
    struct persist_backend backends[PERSIST_BACKENDS_MAX];
    size_t count;
    uint64_t begin_ns, longest_ns; // Of the try at hand; of the longest one.
    unsigned tries;
};

void persist_begin(struct persist *out_persist, struct backend *backend);

// The work stands on this backend too. Before it begins; at most PERSIST_BACKENDS_MAX.
void persist_add(struct persist *persist, struct backend *backend);

// Whether somebody else has killed a process since the try began.
int persist_was_killed(const struct persist *persist);

// Whether the work has to be done again. Else `*io_status` is what it came to.
int persist_again(struct persist *persist, tapml_status *io_status);

// The same for a program: runs it as `child_run` does (link/child.h), again where somebody else has
// killed it, PERSIST_TRIES times at most. `*out_output` is that of the last time.
tapml_status persist_run(const char *const *arguments,
                         uint64_t timeout_ns,
                         struct child_output *out_output) STATUS_USED;
