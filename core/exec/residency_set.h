// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights at a place as they are kept: what exec/residency and exec/residency_slots know of them.
// To others these are keys and residents alone; the rest is private to the two.
//
// One thread, that of the backend, whose failures are returned.
#pragma once

#include "base/file.h"
#include "base/status.h"
#include "base/table.h"
#include "device/backend.h"
#include "tensor/tiles.h"

struct arena;

// Bytes of which writes of weights are multiples.
enum { RESIDENCY_GRAIN = 16 };

// Which weight, and its form at the place.
struct residency_key {
    const char *tensor; // Its name in the checkpoint, or the name of a constant.
    uint32_t dtype;     // Reduced: values of f32 are rounded to it, to nearest, ties to even.
    const tapml_encoding *encoding;  // In host memory; of a resident, at the place.
    const struct tiles_spans *spans; // Of tiles that do not lie one after another; or NULL.
};

// A weight that was found. Lives as long as the set.
struct resident {
    struct residency_key key;
    const tapml_tensor *tensor; // NULL while it is not loaded; the same after each load.
    uint32_t slot;              // Of the compiler: where the last program that has it keeps it.
    uint32_t next_use; // Of exec/allowance, while it makes room: the next step that needs it.
};

// A span that has a buffer of its own.
struct resident_span {
    tapml_tensor tensor;
    int64_t bytes;
    const unsigned char *data; // In host memory.
};

// Some rows of a weight, or all of it.
struct resident_panel {
    tapml_tensor tensor;
    int64_t shape[TAPML_MAX_RANK];
    const unsigned char *data; // In host memory.
    uint64_t bytes;

    // The last bytes with zeros behind them, so that whole grains are written. Stays until the
    // write is done.
    unsigned char tail[RESIDENCY_GRAIN];

    int is_of_file; // `tensor` lies in the buffer of a shared file.
    struct resident_span
        *spans; // Used where they lie; then there is one panel. NULL: it has `data`.
    const tapml_tensor *span_list[CODEC_TILES_SPANS_MAX];
};

// A weight that was asked for.
struct resident_weight {
    struct resident resident; // First.
    int is_in_slots;          // Its buffers are those of exec/residency_slots.
    int is_in_doubt;          // Whether it has come to the device.
    uint64_t loaded_at;       // `changes` of the set then.
    struct resident_panel *panels;
    uint64_t panel_count;
};

// A file of a checkpoint that is shared.
struct resident_file {
    struct file_map map;
    tapml_object *buffer; // Over its pages, where the backend imports memory whole; or NULL.
};

struct residency {
    struct backend *backend;
    struct arena *arena; // Of the weights and their panels.
    uint64_t generation; // Of the backend, when the weights were loaded.
    struct table known;  // Key to position in `weights`.
    struct resident_weight **weights;
    size_t count;
    size_t capacity;
    uint64_t spread_bytes; // Of weights that do not stay in the blocks or tiles of their file.
    struct resident_file *shared;
    size_t shared_count, shared_capacity;
    uint64_t copied_bytes; // Of loaded panels that are not in place.
    uint64_t changes;      // Loads and releases,
    uint64_t settled;      // of which so many are known to be done.
    int is_in_doubt;       // Whether some weights have come to the device.
    int has_slots;         // Nothing is used in place, of a device (exec/residency_slots).
};

// Where a panel is written.
struct residency_spot {
    tapml_object *buffer;
    uint64_t offset;
    int is_aside; // Beside the queue (device/backend.h).
};

// The shared file that has all of `bytes`, or NULL.
const struct resident_file *
residency_set_file(const struct residency *set, const void *data, uint64_t bytes);

// Queues the writes of a panel, with zeros behind it up to a whole grain.
tapml_status residency_set_write(struct residency *set,
                                 struct resident_panel *panel,
                                 const struct residency_spot *spot) STATUS_USED;
