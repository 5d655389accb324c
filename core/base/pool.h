// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One pool of threads for the process: divides outputs, never a sum, so that bits do not depend on
// its width.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct pool;

typedef void (*pool_body_fn)(void *user, uint64_t begin, uint64_t end);

// `width` threads work, the caller among them; 0: one for each processor this process may use.
tapml_status pool_create(uint32_t width, struct pool **out_pool) STATUS_USED;
void pool_destroy(struct pool *pool);
uint32_t pool_width(const struct pool *pool);

// Calls `body` on disjoint ranges that cover 0 .. n - 1, each a multiple of `grain` long but the
// last, and returns when all are done. From a body it runs in place. Allocates nothing. One caller
// at a time works with the pool; a second one runs in place.
void pool_run(struct pool *pool, uint64_t n, uint64_t grain, pool_body_fn body, void *user);
