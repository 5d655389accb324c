// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Builds a graph for a model plugin: tapml.host.graph/1.
//
// Every function of the interface checks what it is given; errors name the open scope. Views are
// the builder's own; where a view's layout does not fit what an op takes, it puts a `copy` before
// the op, named "<consumer>/copy.<param>". An op that writes a state writes the state's own value.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "schema/catalogue.h"

#include <tapml/model.h>

struct builder;

// `catalogue` and `weights` (an object of model/weights) outlive the graph. The caller owns the
// builder.
tapml_status builder_create(const struct catalogue *catalogue,
                            tapml_object *weights,
                            struct builder **out_builder) STATUS_USED;
void builder_destroy(struct builder *builder);

// From now on, products get inputs that are quantised as the checkpoint says
// (graph/fake_quantise.h), if there is one.
void builder_quantise_inputs(struct builder *builder);

tapml_object *builder_object(struct builder *builder);
const tapml_host_graph *builder_table(void);

// The graph under construction, for tables beside the builder's own (graph/part.h): value k of it
// is number k + 1 of the plugin. TAPML_PRECONDITION if there is none any more.
struct draft;
tapml_status builder_draft(tapml_object *graph, struct draft **out_draft) STATUS_USED;

// Ends the building: scopes closed, at least one output, every state and input used. The caller
// owns the graph; the builder is empty from then on.
tapml_status builder_finish(struct builder *builder, struct graph **out_graph) STATUS_USED;
