// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that spoils what an inner one computes: the judge of what finds faults.
#pragma once

#include "device/backend.h"

struct spoil_options {
    struct backend *inner;
    const char *instances[4]; // Globs, ended by NULL; outputs of what matches are scaled,
    double factor;            // by this,
    int only_together;        // and only where all of the globs matched since "embed" ran.
};

// The test fails where there is no memory. Freed by spoil_destroy.
struct backend *spoil_create(const struct spoil_options *options);
void spoil_destroy(struct backend *backend);
