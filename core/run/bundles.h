// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Bundles of a run: the smallest failing case of every blamed instance, as a file for others.
#pragma once

#include "plugin/registry.h"
#include "verify/verdict.h"

struct fault_rule; // verify/fault_rule.h

struct bundles_options {
    struct registry *registry;
    struct store *store; // Of the run.
    const struct checkpoint *checkpoint;
    struct backend *backend;         // The target,
    const char *backend_name;        // as the run names it,
    const char *target;              // and its own name in the run.
    const struct fault_rule *faults; // Injected around it.
    size_t fault_count;
    const char *dir;       // Of the run.
    const char *config;    // Path of its INI if replays need it (run/follow_up.h); or NULL.
    const char *arguments; // What else they need to find the plugins of the run; or "".
    const struct verdict_list *verdicts; // Of this start, with the recipes of derived cases.
    int is_finished; // The offload had ended at an earlier start, whose bundles stay.
};

// Writes `dir`/FAULT-n.tapmlrun for each blamed instance of the target, with a row in the table
// `bundle`, and prints where it is and how to reproduce it: the kept or derived case, or the call
// of a judged run, that speaks against it, made smaller while it fails. Where nothing fails by
// itself, it is the kept case that is nearest to its limit, and says so. `io_count` is n of the
// last one of the run, 0 at first.
tapml_status bundles_write(const struct bundles_options *options, unsigned *io_count) STATUS_USED;

// Removes the bundles behind number `count`: those of an earlier start, which had more.
void bundles_remove_rest(const char *dir, unsigned count);

// What a bundle says of the target that a run names so: "gpu = COMPONENT:DEVICE (its name), plugin
// ID VERSION", in `arena`; NULL where there is no memory.
const char *
bundles_print_target(const char *name, const struct backend *backend, struct arena *arena);

// Prints what a bundle is: instance, op, where and how it failed; of a driver, its check.
// `verdicts` is NULL there.
void bundles_describe(struct store *store, const struct verdict_list *verdicts);

// Replays the one case of a bundle once more, and prints the limit of each output and the first
// elements that are beyond it, with what was expected and computed.
tapml_status bundles_print_elements(struct store *store,
                                    struct registry *registry,
                                    struct backend *backend) STATUS_USED;
