// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the results of each op depend on beside their cases (`struct result_maker`), found out once.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "plugin/registry.h"
#include "store/result.h"
#include "verify/calibrator.h"

struct fault_rule; // verify/fault_rule.h
struct makers;

// What the results of all ops depend on. All of it outlives the makers.
struct makers_options {
    struct registry *registry;
    struct backend *backend;         // What computes,
    struct calibrator *calibrator;   // and what gives limits.
    const struct fault_rule *faults; // Injected around `backend`: results of an op depend on those
    size_t fault_count;              // that can strike it, and on those of the driver.
};

// The caller owns the makers, which belong to one thread.
tapml_status makers_create(const struct makers_options *options,
                           struct makers **out_makers) STATUS_USED;
void makers_destroy(struct makers *makers);

// What the results of an op depend on; borrowed from `makers`. Of an op that no plugin which was
// opened knows, they depend on the whole plugin. Fails if a device that calibrates cannot be
// opened.
tapml_status makers_find(struct makers *makers,
                         const char *op,
                         uint32_t version,
                         const struct result_maker **out_maker) STATUS_USED;
