// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The process's pool of threads. Work is divided over outputs and never over the terms of a sum, so
// that results do not depend on the number of threads, bit for bit.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct pool;

// Computes the items begin .. end - 1. It is called by several threads at the same time.
typedef void (*pool_body_fn)(void *user, uint64_t begin, uint64_t end);

// Creates a pool of `width` threads, including the calling one; 0: one for each processor that this
// process may use. The caller owns it. TAPML_INVALID for too many threads, TAPML_UNAVAILABLE if the
// system does not start one.
tapml_status pool_create(uint32_t width, struct pool **out_pool) STATUS_USED;
// Ends the threads and frees the pool, which must be idle. NULL is allowed.
void pool_destroy(struct pool *pool);

// Returns the number of threads, including the calling one. [any]
uint32_t pool_width(const struct pool *pool);

// Calls `body` on disjoint ranges that cover 0 .. n - 1 and returns when all are complete. Each
// range but the last has a multiple of `grain` as its length. It allocates nothing. The pool serves
// one caller at a time: a call from a body, or from a second thread, runs on the calling thread.
// [any]
void pool_run(struct pool *pool, uint64_t n, uint64_t grain, pool_body_fn body, void *user);
