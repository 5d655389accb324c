// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The names that expected.safetensors may have: all that is in it is compared, so that a name which
// the model does not give is an error. Any thread.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "model/checkpoint.h"
#include "run/model_parts.h"

// The tensor of the file with the pooled rows of the prompt.
#define EXPECTED_EMBEDDING "embedding"

// What an encoder, a model without logits, is given beside its ids, one at a time. What comes of it
// stands in the file under the output's name with this ending.
struct expected_given {
    const char *input, *ending;
};

enum { EXPECTED_GIVENS = 2 };
extern const struct expected_given expected_names_givens[EXPECTED_GIVENS];

// A file and the model that it is of; all is borrowed.
struct expected_names {
    const char *folder;
    const struct graph *graph;
    const struct checkpoint *file;
    const struct model_parts *parts; // That tokens of the prompt stand for.
    int is_encoder;                  // Without logits.
    int is_part;                     // It shares the file of a model: other names are of that.
    int is_pooled;                   // The rows of an output are pooled.
};

// TAPML_INVALID names the first tensor that the model does not give.
tapml_status expected_names_check(const struct expected_names *names) STATUS_USED;

// Whether `name` is that of an output of the graph, followed by `ending`. The output's is copied.
int expected_names_end(const struct graph *graph,
                       const char *name,
                       const char *ending,
                       char output[static 64]);
