// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What of a model exceeds the limits of a device that is known by its file, and the memory that the
// model takes there.
//
// An op is refused where the host would refuse it on such a device: the answers are those of
// exec/schedule, in a prefill of a whole chunk and in the decode of one token. Everything else is
// what whoever writes the kernels has to provide for.
//
// One thread. TAPML_NO_MEMORY, and the failures of the frame.
#pragma once

#include "run/forecast_frame.h"

enum forecast_limit_kind {
    FORECAST_REFUSED, // Runs on the source instead.
    FORECAST_PANELS,  // A weight is cut into panels of rows, each a launch of its own.
    FORECAST_FOLDED,  // More workgroups than one axis has: the grid is folded.
    FORECAST_SHARED,  // A row that is added up does not fit into shared memory.
    FORECAST_OFFSET, // A tensor begins where no binding can: its offset is a number for the kernel.
    FORECAST_WIDENED, // A weight is of a type of 16 bits in which the device does not compute.
    FORECAST_LIMITS
};

// "refused", "panels" and so on; and what it means, for people.
const char *forecast_limits_name(enum forecast_limit_kind kind);
const char *forecast_limits_meaning(enum forecast_limit_kind kind);

enum { FORECAST_SENTENCE = 192 };

// An op that exceeds a limit. Of a kind, each op once, with what exceeds the limit most.
struct forecast_limit {
    enum forecast_limit_kind kind;
    uint32_t op;                      // In the graph.
    uint64_t needed, limit;           // In the units of the limit; 0 where the reason has none.
    char sentence[FORECAST_SENTENCE]; // "'lm_head' takes 148530688 bytes, a binding has 134217728"
};

// Bytes on the device.
struct forecast_memory {
    uint64_t weights;     // With constants.
    uint64_t states;      // At the capacity.
    uint64_t activations; // Buffers that values of a call share.
};

struct forecast_limits {
    struct forecast_limit *items; // In the order of kinds, then of the graph.
    size_t count, capacity;
    struct forecast_memory memory;
};

// The caller releases the result.
tapml_status forecast_limits_find(struct forecast_frame *frame,
                                  struct forecast_limits *out_limits) STATUS_USED;
void forecast_limits_release(struct forecast_limits *limits);

// All of it.
uint64_t forecast_limits_bytes(const struct forecast_memory *memory);
