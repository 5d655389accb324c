// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a call of a model costs on a device that is known by its file: the bytes that cross its
// memory, the operations, the launches, and the time that follows.
//
// Of an op the time is the longer of its bytes over the bandwidth and its operations over the rate,
// and a launch: a lower bound for kernels of one op each. Bytes are those of inputs, outputs,
// regions of states, and of weights as far as the op reads them: of a table the rows, of experts
// those of one token. Operations are those of the op's definition, which counts attention without
// its mask.
//
// One thread. Failures are those of the schema and TAPML_NO_MEMORY.
#pragma once

#include "run/forecast_frame.h"

// The ops of one kind in a call.
struct forecast_kind {
    const tapml_op *op;
    uint64_t calls;
    double bytes, operations;
    double seconds; // 0 if unknown.
};

struct forecast_cost {
    int64_t tokens, position;
    uint64_t launches; // One for each op.
    double bytes, operations;
    double seconds; // 0 if unknown: the file has neither bandwidth nor rate.
    int has_bandwidth, has_rate, has_launch; // What the seconds are made of.
    struct forecast_kind *kinds;             // The longest first, else those with the most bytes.
    size_t kind_count, kind_capacity;
};

// The cost of the call of `tokens` tokens at `position`. The caller releases the result.
tapml_status forecast_cost_find(struct forecast_frame *frame,
                                int64_t tokens,
                                int64_t position,
                                struct forecast_cost *out_cost) STATUS_USED;
void forecast_cost_release(struct forecast_cost *cost);
