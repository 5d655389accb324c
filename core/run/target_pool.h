// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The device of a target that has a pool of them (config/device_pool.h): one of its members, and
// after that is lost the next one.
//
// One thread, that of the setup. Failures are those of what is opened.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct place;
struct run_config;
struct setup;

// What target a place of the setup is, by its index, and which member of its pool it has now.
struct target_pool {
    struct setup *setup;
    const struct run_config *config;
    size_t index;
    struct place *target;
    size_t *io_member;
};

// Whether the labels of the pool are some (run/pool_labels.h), before anything is open; also of a
// target without a pool. TAPML_INVALID names the file and the pool.
tapml_status target_pool_check(const struct run_config *config, size_t index) STATUS_USED;

// Opens the place of a target, which may have no pool. TAPML_UNAVAILABLE too if the device lacks a
// label of the pool: it is open then.
tapml_status target_pool_open(const struct target_pool *pool) STATUS_USED;

// After the failure at hand of a target whose device is lost: opens the next member, and logs it.
// `*out_is_replaced` is 0 where there is none; the message is then that of the failure. Sessions
// over the place are gone by then.
tapml_status target_pool_replace(const struct target_pool *pool, int *out_is_replaced) STATUS_USED;
