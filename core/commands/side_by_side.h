// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Processes beside the host of a run, for the targets or for the source.
//
// That of a target opens source and target as any host does, and works in the store of the run. It
// replays kept cases as soon as they are carved, and has all the target's jobs done
// (run/target_jobs.h) when the host says that all are there and that the judge's limits are known.
// That of a member of a target's pool only replays what it can claim (run/case_share.h).
// That of a source carves a share of the prompts into a store of its own (run/source_shares.h).
// What a process leaves undone, by whatever end, is done by the host, which goes through all
// targets and prompts then as a second start does: it finds the rows, and writes bundles and
// report.
//
// What the processes say is printed as it comes, by a thread of the host; how far each of them is
// stands in a line of its own at the end of a terminal, as far as there are places (base/log.h).
//
// The processes are made before there is a second thread, and before a device is opened. Functions
// are for one thread.
#pragma once

#include "base/status.h"
#include "run/outcome.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct run_lock;

enum { SIDE_HOSTS_MAX = 64, SIDE_NAME = 96 };

struct side_host {
    char name[SIDE_NAME]; // "target 'gpu'"
    int telling;          // Written to: what there is by now; -1: none.

    // For who has `lock`.
    pid_t process; // 0: none, any more.
    int listening; // Its error stream, without waiting; -1: at its end.
    size_t held;   // Bytes of a line that has not ended.
    char line[1024];
};

struct side_by_side {
    size_t count;
    struct side_host hosts[SIDE_HOSTS_MAX];
    const char *unit; // "targets"; static.
    size_t line;      // Of the first one, at the end of a terminal, from 1.
    pthread_mutex_t lock;
    pthread_t listener; // If `has_listener`.
    int has_listener;
    _Atomic int is_ending; // For the listener.
    _Atomic int is_ended;  // By side_by_side_end: of no process there is anything to tell.
};

// Empties `side`: its processes are `unit`, and how far they are stands from `line` on.
void side_by_side_init(struct side_by_side *side, const char *unit, size_t line);

// Makes a process, which waits. In it `work` is called with its index, and ends it with the code
// that it returns. TAPML_UNAVAILABLE where the system has none to give, or for more than
// SIDE_HOSTS_MAX of them: side_by_side_end is left to the caller.
struct side_link;
typedef enum outcome (*side_by_side_fn)(void *user, size_t index, const struct side_link *link);
tapml_status side_by_side_add(struct side_by_side *side,
                              const char *name,
                              side_by_side_fn work,
                              void *user) STATUS_USED;

// Begins to print what the processes say, once all are made that the host has.
tapml_status side_by_side_listen(struct side_by_side *side) STATUS_USED;

// What a process is told: that the store is there and known to be that of the run; then that all is
// carved, and how many op executions the limits of the judge have cost.
enum side_word { SIDE_NOTHING, SIDE_OPENED, SIDE_CARVED };
struct side_message {
    enum side_word word;
    uint64_t executions; // Of SIDE_CARVED, for the first target: the report has them once.
};
void side_by_side_tell(struct side_by_side *side, struct side_message message);

// In a process: waits for at most `wait_ms`, -1 without an end, for the next message. SIDE_NOTHING
// in time; TAPML_CANCELLED once the host has gone.
tapml_status side_by_side_hear(const struct side_link *link,
                               int wait_ms,
                               struct side_message *out_message) STATUS_USED;

// In a process: from now on its error stream goes to the host, which prints it, and lines of
// progress to the host's terminal; before, it goes nowhere, since the host says the same of files
// and devices.
void side_by_side_speak(const struct side_link *link);

// Waits until all processes have ended. The progress is published in `lock`. TAPML_CANCELLED after
// a signal: side_by_side_end is left to the caller.
tapml_status side_by_side_wait(struct side_by_side *side, struct run_lock *lock) STATUS_USED;

// Ends what is left of the processes.
void side_by_side_end(struct side_by_side *side);
