// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Buffers as the near side of a link knows them: each has a number, by which messages name it.
//
// One thread. TAPML_NO_MEMORY.
#pragma once

#include "base/shared.h"
#include "base/status.h"

#include <tapml/abi.h>

#include <stddef.h>
#include <stdint.h>

struct buffer {
    tapml_object object; // First, and only a handle: it has no functions.
    struct buffer *next;
    struct buffer *previous;
    uint32_t number; // From 1.
    uint64_t bytes;
    struct shared_span span; // `memory` is NULL where the buffer is in a device.
    int is_shared;           // The span lies in memory that is shared.
    int is_made;             // It was on the far side: one that is started again gets it again.
};

// Zeroed to begin with.
struct buffer_list {
    struct buffer *first;  // The newest.
    uint32_t number_count; // Numbers ever given out,
    uint32_t *free_numbers;
    size_t free_count, free_capacity; // and those that are free again.
};

// With the buffers that are left. Spans are whose they were.
void buffer_list_release(struct buffer_list *list);

// A copy of `wanted` with a number of its own. It is the list's.
tapml_status buffer_add(struct buffer_list *list,
                        const struct buffer *wanted,
                        struct buffer **out_buffer) STATUS_USED;

// Takes a buffer out and frees it; another one gets its number. Allocates nothing.
void buffer_remove(struct buffer_list *list, struct buffer *buffer);

// The buffer, and the number, of a handle of this link.
struct buffer *buffer_of(const tapml_object *object);
uint32_t buffer_number_of(const tapml_object *object);
