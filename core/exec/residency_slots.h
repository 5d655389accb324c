// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights in slots: buffers that stay, and whose contents change (exec/ring decides when).
//
// A set with slots belongs to one session, and none of its weights is used where it lies in host
// memory, unless the backend computes in host memory: there a weight is always in place, and a slot
// is only a number of bytes. A weight in slots is there between `residency_slots_enter` and
// `residency_slots_leave`; all others of the set are loaded and released as ever.
//
// One thread, that of the backend, whose failures are returned. Sizes and offsets are bytes.
#pragma once

#include "exec/residency.h"

// Of which offsets in slots are multiples.
enum { RESIDENCY_SLOTS_GRAIN = 256 };

// Makes an empty set one with slots, before files are shared with it. Whether it is one.
void residency_slots_use(struct residency *set);
int residency_slots_are_used(const struct residency *set);

// What a weight takes in a slot, a multiple of the grain. Where the backend computes in host
// memory: what of it lies in files, which alone can be read ahead and left.
uint64_t residency_slots_bytes(const struct residency *set, const struct resident *resident);

// Whether the weight fits into one buffer.
int residency_slots_are_whole(const struct resident *resident);

// Puts a weight that is not loaded under these functions, or takes it back. Of a device.
void residency_slots_keep(struct resident *resident, int is_in_slots);

// A slot, which counts among the copied bytes of the set, and its end after a wait. A NULL buffer
// is allowed.
tapml_status
residency_slots_new(struct residency *set, uint64_t bytes, tapml_object **out_buffer) STATUS_USED;
void residency_slots_free(struct residency *set, tapml_object *buffer, uint64_t bytes);

// Queues the writes of a weight into a slot; with `is_aside` beside the queue (device/backend.h).
tapml_status residency_slots_fill(struct residency *set,
                                  struct resident *resident,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  int is_aside) STATUS_USED;

// Calls that are queued from now on find the weight there; or do not find it any more.
void residency_slots_enter(struct resident *resident, tapml_object *buffer, uint64_t offset);
void residency_slots_leave(struct resident *resident);

// Bytes of a file that a weight is made of.
struct residency_source {
    const struct file_map *map; // Lives as long as the set.
    const unsigned char *data;
    uint64_t bytes;
};

// The source `index` of a weight, counted from 0. Returns 0 past the last one. What lies in other
// memory has none.
int residency_slots_source(const struct residency *set,
                           const struct resident *resident,
                           uint64_t index,
                           struct residency_source *out_source);
