// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A model's calls as a device that is known by its file would get them: what the other modules of a
// forecast ask. Nothing runs and nothing is uploaded; host memory is allocated as for a session of
// the same capacity and chunk.
//
// One thread. Sizes are bytes.
#pragma once

#include "config/device_file.h"
#include "exec/binding.h"
#include "exec/schedule.h"
#include "exec/space.h"
#include "exec/value.h"
#include "plugin/model.h"

struct arena;

enum { FORECAST_FRAME_DEVICE = 1 }; // Its place among the frame's; 0 is the source.

struct forecast_frame_options {
    struct model *model;            // Borrowed, as all below.
    struct place *source;           // Open.
    const struct device_file *file; // Of the device.
    enum activation activation;     // Of the device.
    int64_t capacity;               // Rows of the states.
    int64_t chunk;                  // Tokens of a call at most, not above the capacity.
};

// All members may be read.
struct forecast_frame {
    struct forecast_frame_options given;
    const struct graph *graph;
    struct backend *device;
    struct place place;        // Of the device, under the name "device".
    struct residency *weights; // There.
    struct space_set spaces;   // Source and device.
    struct value_set *values;  // Or NULL.
    struct schedule *schedule; // All on the device; or NULL.
    struct arena *arena;       // Of the bindings.
    struct binding *bindings;  // One for each op.
    struct plan *plan;
    struct affine_point largest; // Of every call.
};

// The caller closes the frame. TAPML_INVALID if the chunk is above the capacity; else the failures
// of value_set_create and schedule_set_plan.
tapml_status forecast_frame_open(const struct forecast_frame_options *options,
                                 struct forecast_frame *out_frame) STATUS_USED;
void forecast_frame_close(struct forecast_frame *frame);

// The call of `tokens` tokens at `position`, with logits of the last one.
struct affine_point
forecast_frame_point(const struct forecast_frame *frame, int64_t tokens, int64_t position);

// The arguments of an op in a call, as they are on the device: without buffers, until the next
// evaluation of the op.
const struct binding *
forecast_frame_bind(struct forecast_frame *frame, uint32_t op, const struct affine_point *point);

// The bytes of a base value on the device: of a weight or constant its own, of every other value
// those of its buffer, which values that are never alive together share.
uint64_t forecast_frame_bytes(const struct forecast_frame *frame, uint32_t value);

// The form of a weight or constant on the device. Its shape is written to `shape`, which has
// TAPML_MAX_RANK entries.
tapml_tensor
forecast_frame_form(const struct forecast_frame *frame, uint32_t value, int64_t *shape);
