// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The files of events that a command writes while it runs, by its options: the timeline of the run
// (--timeline), and the traffic with workers on other machines (--trace-link). Both are written by
// base/timeline.
//
// The thread that opens them is the one that works: its stages and steps are a track of the process
// "tapml-host".
#pragma once

#include "base/status.h"
#include "base/timeline.h"
#include "config/options.h"

struct arena;

// The options of commands that can be drawn.
#define TIMELINES_OPTIONS                                                                          \
    {"--timeline", "FILE",                                                                         \
     "writes each step, transfer and wait as trace events while it runs, which Perfetto opens"},   \
    {                                                                                              \
        "--trace-link", "FILE",                                                                    \
            "writes each message to and from a worker on another machine as trace events"          \
    }

// All zeros: none was asked for.
struct timelines {
    struct timeline *run;  // Or NULL.
    struct timeline *link; // The same.
};

// Gives a process that works beside another files of its own: "FILE.NAME" for each FILE of
// `io_options`. The names are in `arena`. TAPML_NO_MEMORY.
tapml_status
timelines_split(struct options *io_options, const char *name, struct arena *arena) STATUS_USED;

// Makes the files that `options` ask for. Failures are those of timeline_create.
tapml_status timelines_open(const struct options *options, struct timelines *out) STATUS_USED;

// Ends both, once the work is done; what is done later is left out. Returns the first failure of
// the writing. The same thread.
tapml_status timelines_finish(struct timelines *timelines) STATUS_USED;

// Frees both, after all that draws on them.
void timelines_close(struct timelines *timelines);
