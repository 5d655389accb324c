// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A quantised weight of a checkpoint as its tensors: which they are, and that their types and
// shapes fit together. Errors name the file, the tensor, what was expected and what was found.
#pragma once

#include "base/status.h"
#include "model/quantised_config.h"

struct checkpoint;
struct checkpoint_tensor;

enum { QUANTISED_MODULE_MAX = 1024 };

// One weight. The tensors are those of the checkpoint; an optional one that is absent is NULL.
struct quantised_weight {
    const struct quantised_scheme *scheme;
    const struct checkpoint_tensor *quants, *scales, *zeros, *factor, *groups;
    int64_t matrices; // One behind the other.
    int64_t rows, columns;
    int64_t tile_rows, tile_columns;   // At least 1, at most the rows and columns.
    int64_t tiles_down, tiles_across;  // The last ones may be partial.
    char module[QUANTISED_MODULE_MAX]; // "model.layers.0.mlp.up_proj"
};

// Whether `tensor` has the quants of a weight of `layout`: by its name and its type. Only then the
// module's name is written. TAPML_INVALID if that is too long.
tapml_status quantised_parts_match(const struct quantised_layout *layout,
                                   const struct checkpoint_tensor *tensor,
                                   int *out_matches,
                                   char out_module[QUANTISED_MODULE_MAX]) STATUS_USED;

// Finds the other tensors of the weight `quants` of `module`, and checks all of them.
tapml_status quantised_parts_find(const struct checkpoint *checkpoint,
                                  const struct quantised_scheme *scheme,
                                  const struct checkpoint_tensor *quants,
                                  const char *module,
                                  struct quantised_weight *out_weight) STATUS_USED;

// Whether `tensor` is a part of a weight of `layout` that is not its quants, or describes the
// inputs of a module: by its name and that the checkpoint has the quants.
int quantised_parts_has(const struct checkpoint *checkpoint,
                        const struct quantised_layout *layout,
                        const struct checkpoint_tensor *tensor);

// Returns the type of a tensor as its file names it: "F8_E4M3", "F32".
const char *quantised_parts_type(const struct checkpoint_tensor *tensor);
