// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Bundles of a run: the smallest failing case of every accused instance, as a file for others.
#pragma once

#include "offload/loop.h"
#include "plugin/registry.h"
#include "verify/verdict.h"

// A bundle that was written.
struct bundles_note {
    const char *instance;
    int64_t case_id;         // Of the run's store.
    const char *file;        // Its name in the run's folder.
    const char *shape_class; // After it was made smaller.
    const char *command;     // Reproduces the fault in the run's folder.
};

struct bundles_options {
    struct registry *registry;
    struct store *store; // Of the run.
    const struct checkpoint *checkpoint;
    const struct graph *graph;
    struct backend *backend;  // The target,
    const char *backend_name; // as the run names it,
    const char *target;       // and its own name in the run.
    const char *dir;          // Of the run.
    const char *config;       // Path of its INI where faults are planted on the target; or NULL.
    const struct verdict_list *verdicts;
    const struct loop_result *result;
    int is_finished; // The offload had ended at an earlier start, whose bundles stay.

    // Called for each bundle. Or NULL.
    tapml_status (*written)(void *user, const struct bundles_note *note);
    void *user;
};

// Writes `dir`/FAULT-n.tapmlrun for each accused instance, and prints where it is and how to
// reproduce it: the kept, derived or watched call that speaks against it, made smaller while it
// fails. Where nothing fails by itself, it is the kept case that is nearest to its limit, and says
// so.
// `io_count` is n of the last one of the run, 0 at first.
tapml_status bundles_write(const struct bundles_options *options, unsigned *io_count) STATUS_USED;

// Removes the bundles behind number `count`: those of an earlier start, which had more.
void bundles_remove_rest(const char *dir, unsigned count);

// Prints what a bundle is: instance, op, where and how it failed.
void bundles_describe(struct store *store, const struct verdict_list *verdicts);

// Replays the one case of a bundle once more, and prints the limit of each output and the first
// elements that are beyond it, with what was expected and computed.
tapml_status bundles_print_elements(struct store *store,
                                    struct registry *registry,
                                    struct backend *backend) STATUS_USED;
