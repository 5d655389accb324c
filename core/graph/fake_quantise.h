// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Quantised inputs of products: puts the op `fake_quantise` before a matrix product whose weight
// the checkpoint says to need it, so that model plugins know nothing of it.
#pragma once

#include "base/status.h"
#include "graph/draft.h"

struct checkpoint;

// Gives the op that is about to be added, if it is a product with weights of `checkpoint`, inputs
// as the checkpoint says: its argument is replaced by what an op "<instance>/input" makes of it, or
// by what the op made for another product with the same input. `schema` and `arguments` are those
// of draft_add_op. TAPML_INVALID if the experts of a product differ in more than a factor.
tapml_status fake_quantise_apply(struct draft *draft,
                                 const struct checkpoint *checkpoint,
                                 const char *instance,
                                 const struct compiled_op *schema,
                                 struct graph_argument *arguments) STATUS_USED;
