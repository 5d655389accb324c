// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A pass over a compiled program, before its steps are put into an order: at places with a ring
// (exec/ring) weights that do not stay are uploaded by no step of their own. The steps STEP_TURN
// take their place, each before the first call of a section (exec/ring_plan).
//
// One thread. Failures are those of `ring_plan_make`, with the place and the op, and
// TAPML_NO_MEMORY.
#pragma once

#include "exec/binding.h"
#include "exec/program.h"
#include "exec/space.h"

// All are borrowed: what the program was compiled from.
struct ring_pass_options {
    const struct graph *graph;
    const struct space_set *spaces;
    const struct binding *bindings;
};

tapml_status ring_pass(const struct ring_pass_options *options,
                       struct program *program) STATUS_USED;
