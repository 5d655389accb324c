// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that damages memory around what an inner one computes: the judge of the guard.
#pragma once

#include "device/backend.h"

enum vandal_act {
    VANDAL_RESTS,
    VANDAL_WRITES, // Ones, over bytes that may lie anywhere.
    VANDAL_LEAVES  // What was there before the call, as a kernel does that does not write it.
};

struct vandal_options {
    enum vandal_act act;
    uint32_t param;       // Of the op.
    int64_t offset_bytes; // From the first element of that parameter's tensor; may be negative.
    uint32_t size_bytes;  // A whole number of grains, at most 64.
    const char *instance; // Whose calls are meant; NULL: all. Borrowed.
};

// `inner` is borrowed. The test fails where there is no memory. Freed by backend_release.
struct backend *vandal_create(struct backend *inner);

// What is done at every call from now on.
void vandal_set(struct backend *vandal, const struct vandal_options *options);
