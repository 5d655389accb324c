// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The buffers that a backend has given out, by handle: what the façade knows of each.
//
// A handle that was freed is remembered, as long as no other buffer takes its address and the table
// does not grow, so that a use after it can be named. Looking up allocates nothing.
#pragma once

#include "base/status.h"

#include <tapml/abi.h>

#include <stddef.h>
#include <stdint.h>

struct handle {
    const tapml_object *object; // NULL: a free slot.
    uint64_t bytes;
    uint32_t number; // From 1, in the order of making: what messages call it.
    uint32_t access; // TAPML_ACCESS_*
    int is_alive;
};

// Zeroed to begin with. One thread at a time.
struct handles {
    struct handle *slots;
    size_t capacity; // A power of two, or 0.
    size_t used;     // Slots with a handle, freed ones too.
    size_t alive;
    uint32_t made; // Ever.
};

void handles_release(struct handles *handles);

// Makes room for one more handle, so that `handles_add` cannot fail. TAPML_NO_MEMORY alone.
tapml_status handles_reserve(struct handles *handles) STATUS_USED;

// Adds a handle, for which there is room; one that was freed at the same address is forgotten.
void handles_add(struct handles *handles,
                 const tapml_object *object,
                 uint64_t bytes,
                 uint32_t access);

// What is known of a handle, alive or freed; NULL where it never was one. Until the next
// `handles_reserve`.
struct handle *handles_find(const struct handles *handles, const tapml_object *object);

// Marks a handle as freed.
void handles_free(struct handles *handles, struct handle *handle);
