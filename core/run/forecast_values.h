// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the values of a model lose in f16 and bf16, from a run on the source: prompts and the tokens
// decoded after them.
//
// An op is judged by its outputs, and by operands that no op has computed: inputs of the model, and
// weights in the place of an activation. An op that only moves what other ops have computed is
// not, nor are values that stay f32 beside reduced activations (exec/cast), nor what is not finite
// in the source's f32, such as a mask.
//
// One thread, that of the source. Failures are those of the session, and TAPML_NO_MEMORY.
#pragma once

#include "exec/session.h"
#include "graph/graph.h"
#include "model/prompts.h"
#include "tensor/range.h"

enum forecast_type { FORECAST_F16, FORECAST_BF16, FORECAST_TYPES };

// The reduced dtype.
enum activation forecast_values_activation(enum forecast_type type);

// Of an op in one dtype. It leaves the range if a value becomes infinite, and loses precision if
// the relative error of a call is larger than rounding normal numbers can make it.
struct forecast_loss {
    struct range_loss sum; // Of all calls.
    double worst;          // The largest relative error of a call.
};

int forecast_values_leaves(const struct forecast_loss *loss);
int forecast_values_loses(const struct forecast_loss *loss, enum forecast_type type);

struct forecast_op {
    uint64_t calls;
    struct forecast_loss types[FORECAST_TYPES];
};

struct forecast_values {
    const struct graph *graph; // Borrowed.
    struct forecast_op *ops;   // One for each op of the graph.
    uint64_t tokens;           // That were fed.
};

struct forecast_run {
    const struct session_options *session; // Its one place is the source.
    const struct prompts *prompts;
    int64_t decode;     // Tokens for each prompt.
    const int32_t *end; // Ids that end a text.
    size_t end_count;
};

// Runs the prompts. The caller releases the result.
tapml_status forecast_values_find(const struct forecast_run *run,
                                  struct forecast_values *out_values) STATUS_USED;
void forecast_values_release(struct forecast_values *values);
