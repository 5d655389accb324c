// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A graph while it grows: values, ops and outputs in arrays, and who has which name.
//
// Indices stay valid; pointers to values and ops last until the next one is added.
#pragma once

#include "base/status.h"
#include "base/table.h"
#include "graph/graph.h"
#include "graph/view.h"
#include "schema/catalogue.h"

enum { DRAFT_NAME_MAX = 255 }; // Bytes of a name.

struct draft {
    const struct catalogue *catalogue; // Borrowed.
    struct arena *arena;               // NULL before draft_init and after draft_finish.
    struct graph_value *values;
    size_t value_count, value_capacity;
    struct graph_op *ops;
    size_t op_count, op_capacity;
    struct graph_output *outputs;
    size_t output_count, output_capacity;
    struct graph_part *parts;
    size_t part_count, part_capacity;
    struct table names;
};

tapml_status draft_init(struct draft *draft, const struct catalogue *catalogue) STATUS_USED;
void draft_release(struct draft *draft);

// A draft that grows in the memory of a graph, which it takes over: until the draft is released or
// finished, and as long as a graph lives that it has become, all of the old one can be read.
void draft_take_over(struct draft *draft, const struct catalogue *catalogue, struct graph *graph);

// What a name stands for. Names of one class are unique; between classes they may repeat.
enum draft_class { DRAFT_INPUT, DRAFT_CONSTANT, DRAFT_WEIGHT, DRAFT_STATE, DRAFT_OP, DRAFT_OUTPUT };

// Whether the name is taken; then the index that it was taken for is written.
int draft_find(const struct draft *draft,
               enum draft_class class,
               const char *name,
               uint32_t *out_index);

// Takes a name for an index. TAPML_INVALID where it is taken, empty or too long. The copy lives as
// long as the graph.
tapml_status draft_take(struct draft *draft,
                        enum draft_class class,
                        const char *name,
                        uint32_t index,
                        const char **out_copy) STATUS_USED;

// Appends a copy of `value`; what is no view becomes its own base.
tapml_status draft_add_value(struct draft *draft,
                             const struct graph_value *value,
                             uint32_t *out_index) STATUS_USED;

// Appends another look at what value `of` looks at.
tapml_status draft_add_view(struct draft *draft,
                            uint32_t of,
                            const struct view *view,
                            uint32_t *out_index) STATUS_USED;

// How a value lies in its base, and the other way.
struct view draft_view(const struct graph_value *value);
void draft_set_view(struct graph_value *value, const struct view *view);

// Appends an op under a free instance name. `arguments` has one for each parameter and is copied;
// the lists of TENSORS_IN live in the arena. Types and shapes are checked, values that do not fit a
// parameter's layout go through a `copy` named "<instance>/copy.<param>", and the outputs
// (arguments of kind TENSOR_OUT) are made: their `value` is written back.
tapml_status draft_add_op(struct draft *draft,
                          const char *instance,
                          const struct compiled_op *schema,
                          struct graph_argument *arguments) STATUS_USED;

// A dense copy of a value, made by the op `copy` of that instance.
tapml_status draft_add_copy(struct draft *draft,
                            const char *instance,
                            uint32_t value,
                            uint32_t *out_copy) STATUS_USED;

tapml_status draft_add_output(struct draft *draft, const char *name, uint32_t value) STATUS_USED;

// Appends a part, whose texts are copied; its inputs are values of the draft.
tapml_status draft_add_part(struct draft *draft, const struct graph_part *part) STATUS_USED;

// TAPML_INVALID if no op and no output uses an input or a state; the message names it.
tapml_status draft_check_used(const struct draft *draft) STATUS_USED;

// The graph, constant from now on. The caller owns it; the draft is empty.
tapml_status draft_finish(struct draft *draft, struct graph **out_graph) STATUS_USED;
