// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

#include <stdint.h>

// How fast do the threads of a pool read memory?
//
// No single loop says so: processors differ in how many streams they follow, whether fetching ahead
// helps, and what small pages cost. So several ways read the same number of bytes by turns: one
// stream or four in each thread, fetched ahead or not, in small pages or in large ones where the
// system has them. The fastest is the limit for all that has to read its bytes from memory.
struct pool;
struct reading;

// Seconds since some moment: of the clock, and of the processor for all threads of this process. On
// a loaded machine the second says more, with one thread above all.
struct moment {
    double wall, processor;
};

struct moment reading_now(void);
struct moment reading_since(struct moment begin);

// Two buffers of `bytes`, whole MiB. The caller destroys it; the pool is borrowed. TAPML_NO_MEMORY.
tapml_status
reading_create(struct pool *pool, uint64_t bytes, struct reading **out_reading) STATUS_USED;

// Accepts NULL.
void reading_destroy(struct reading *reading);

// What it takes to read the bytes in the fastest way, by each of the two clocks.
struct moment reading_run(struct reading *reading);

// The ways by index, NULL behind the last: their names, and their least seconds in all runs.
const char *reading_way(uint32_t index);
double reading_least(const struct reading *reading, uint32_t index);
