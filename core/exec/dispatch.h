// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The order in which the steps of a program are queued: on all places at once, so that the host is
// held up as late as it can be.
//
// In the order of the graph, a step at which the host waits or computes stands in front of steps of
// other places that need nothing of it. Here a step that only queues work comes as soon as what it
// needs is queued. Steps that hold the host up (its waits, casts, calls at places on host memory)
// come when nothing else is left: first those that need no wait, then the wait for what was queued
// first, with what follows from it; else in the order of the graph.
//
// A place with memory of its own keeps the order of its steps, so that its queue is that of the
// graph; calls at a place on host memory are in the order of what they need. There is one order
// over all places, in which every step stands behind those that it depends on: places that wait for
// each other never wait in a circle. A step depends on who wrote the host memory that it reads, on
// who reads what it overwrites, and on the waits of the graph's order for these. A program of one
// place stays as it is.
//
// One thread. TAPML_NO_MEMORY is the one failure; the program is then as before.
#pragma once

#include "exec/binding.h"
#include "exec/program.h"
#include "exec/space.h"

struct value_set;

// All are borrowed: what the program was compiled from.
struct dispatch_options {
    const struct graph *graph;
    const struct space_set *spaces;
    const struct value_set *values;
    const struct binding *bindings;
    const uint8_t *places; // Of each op.
};

// Puts the steps of a program, which are in the order of the graph, into the order above.
tapml_status dispatch_order(const struct dispatch_options *options,
                            struct program *program) STATUS_USED;
