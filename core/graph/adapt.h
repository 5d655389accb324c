// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Adapters (model/adapter.h): puts what one adds behind a matrix product whose weight has it, so
// that model plugins know nothing of it.
#pragma once

#include "base/status.h"
#include "graph/draft.h"

struct checkpoint;
struct graph;

// Adds an op as draft_add_op does, with what `checkpoint`, or NULL, says of its weights. With
// `quantises_inputs` the inputs of a product are rounded (graph/fake_quantise.h). If its weights
// have an adapter, the ops "<instance>/lora_a", "/lora_b", "/lora_scale" unless the factor is 1,
// and "/lora" follow, and the sum is the output in `arguments`; A reads what was not rounded. Where
// the product reads a part of its weight, by rows of the output, it gets the same rows of B.
// Where a change lies beside its weights (model/delta_beside.h), "<instance>/delta_w",
// "/delta_scale" and "/delta" follow, also behind an embedding. TAPML_UNIMPLEMENTED for another
// part, and for a change beside any part, or beside a weight that lies as [in, out]; TAPML_INVALID
// if the experts of a product differ in rank or factor, or some have no adapter.
tapml_status adapt_add_op(struct draft *draft,
                          const struct checkpoint *checkpoint,
                          int quantises_inputs,
                          const char *instance,
                          const struct compiled_op *schema,
                          struct graph_argument *arguments) STATUS_USED;

// TAPML_INVALID names a module of an adapter that no product of the graph reads;
// TAPML_UNIMPLEMENTED a weight with a change beside it that another op reads, too.
tapml_status adapt_check_used(const struct graph *graph,
                              const struct checkpoint *checkpoint) STATUS_USED;
