// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The parts of a model: other graphs of its folder, whose output rows tokens of a prompt stand for
// (graph_part).
//
// A part's graph is opened only for a prompt with such tokens. It runs once for each thing that its
// inputs have, such as an image, before the prompt is fed; its rows are then given to the session
// of the prompt. What it reads are tensors of a safetensors file, named as its inputs, with the
// shapes of these, or with one axis more in front for several things.
//
// One thread. Failures are those of the model's files and of the backends, TAPML_NO_MEMORY, and
// those that a function names.
#pragma once

#include "exec/session.h"
#include "model/checkpoint.h"
#include "model/prompts.h"
#include "plugin/model.h"

struct model_part {
    const struct graph_part *part; // Of the graph of the text.
    struct model *model;
    int64_t rows_each; // What the part gives for one thing.
    int64_t wanted;    // Tokens of the prompt that stand for its rows.
    float *rows;       // After model_parts_compute: all of them, dense.
    int64_t count;
};

// Tensors for the inputs of graphs. Borrowed.
struct model_inputs {
    const struct checkpoint *file;
    const char *name; // Of the file, for messages.
};

struct model_parts {
    struct model_part *items;
    size_t count;                // 0 if no token of the prompt stands for a row.
    struct prompt_given *givens; // One for each item, after model_parts_compute.
};

// Opens those parts of `text` that tokens of the prompt stand for. `options` are those with which
// the text was opened, but for the architecture. TAPML_INVALID if the graph of a part is not as
// tapml_part says. `model_parts_close` accepts what is zero.
tapml_status model_parts_open(struct registry *registry,
                              const struct model *text,
                              const struct model_options *options,
                              const int32_t *ids,
                              int64_t count,
                              struct model_parts *out_parts) STATUS_USED;
void model_parts_close(struct model_parts *parts);

// Whether an open part has an input of that name, or gives an output of that name.
int model_parts_have(const struct model_parts *parts, const char *name);

// If the prompt has one token for each thing of the file and not one for each row, as a text of
// "<image>" has, makes each of them as many as there are rows. The ids are replaced.
tapml_status model_parts_expand(struct model_parts *parts,
                                const struct model_inputs *inputs,
                                int32_t **ids,
                                int64_t *count) STATUS_USED;

// Computes the rows of all open parts from the tensors of `file`, on the places and under the plan
// of `session`; its model, capacity and chunk are not looked at. TAPML_INVALID if the file lacks a
// tensor or has one of another type or shape, or if there are not as many rows as tokens.
tapml_status model_parts_compute(struct model_parts *parts,
                                 const struct model_inputs *inputs,
                                 const struct session_options *session) STATUS_USED;

// Refuses what model_parts_compute does, without computing.
tapml_status model_parts_check(const struct model_parts *parts,
                               const struct model_inputs *inputs) STATUS_USED;

// The rows of all open parts, for a session of the text. They live as long as the parts.
struct prompt_givens model_parts_givens(const struct model_parts *parts);

// The inputs of a part's graph for one thing, the first with `thing` 0, from the tensors of a file;
// in `arena`. Writes how many things there are; beyond them nothing is given.
tapml_status model_parts_read(const struct graph *graph,
                              const struct model_inputs *inputs,
                              int64_t thing,
                              struct arena *arena,
                              struct prompt_givens *out_givens,
                              int64_t *out_things) STATUS_USED;
