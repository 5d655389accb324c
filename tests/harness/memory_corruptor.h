// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that corrupts memory around the results of an inner one, to test the guard. One thread.
#pragma once

#include "device/backend.h"

enum memory_corruptor_act {
    MEMORY_CORRUPTOR_NONE,
    MEMORY_CORRUPTOR_WRITES, // Ones, over bytes that may lie anywhere.
    MEMORY_CORRUPTOR_LEAVES  // What was there before the call, as a kernel does that does not write
                             // it.
};

struct memory_corruptor_options {
    enum memory_corruptor_act act;
    uint32_t param;       // Of the op.
    int64_t offset_bytes; // From the first element of that parameter's tensor; may be negative.
    uint32_t size_bytes;  // A whole number of grains, at most 64.
    const char *instance; // Only its calls are corrupted; NULL: all. Borrowed.
    tapml_object
        *buffer; // Of `inner`, instead of the parameter's and from its first byte, or NULL.
};

// `inner` is borrowed. The test fails if there is no memory. Freed by backend_release.
struct backend *memory_corruptor_create(struct backend *inner);

// Sets what is done at every call from now on.
void memory_corruptor_set(struct backend *corruptor,
                          const struct memory_corruptor_options *options);
