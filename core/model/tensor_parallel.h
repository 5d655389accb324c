// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How a published configuration divides its model over several devices: the key
// `base_model_tp_plan` of a config.json, a map from modules to ways, read as annotations of
// graph/sharding.
//
//   "layers.*.self_attn.q_proj": "colwise"    the outputs are cut: a glob of `column`
//   "layers.*.self_attn.o_proj": "rowwise"    the inputs are cut: a glob of `row`
//
// Ways with more words behind these ("colwise_rep", which gathers the outputs) are read as these:
// where a value is needed whole is found anyway. Modules are those of the model without its head,
// so each glob begins with '*'.
//
// One thread.
#pragma once

#include "base/text.h"
#include "model/config.h"

struct tensor_parallel {
    struct text column, row; // Globs with blanks between; empty: none.
    struct text others;      // "layers.*.mlp.experts (grouped_gemm)", with commas between.
};

// The caller releases the result, also after a failure. TAPML_NOT_FOUND where the configuration has
// no such key, TAPML_INVALID where it is no map of texts or says of nothing that it is cut.
tapml_status tensor_parallel_read(struct config *config,
                                  struct tensor_parallel *out_plan) STATUS_USED;
void tensor_parallel_release(struct tensor_parallel *plan);
