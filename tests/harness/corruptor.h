// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that corrupts what an inner one computes, as a test of what finds faults. One thread.
#pragma once

#include "device/backend.h"

struct corruptor_options {
    struct backend *inner;
    const char *instances[4]; // Globs, ended by NULL; outputs of what matches are scaled,
    double factor;            // by this,
    int only_together;        // and only where all of the globs matched since "embed" ran.
};

// The test fails if there is no memory. `corruptor_destroy` frees it.
struct backend *corruptor_create(const struct corruptor_options *options);
void corruptor_destroy(struct backend *backend);
