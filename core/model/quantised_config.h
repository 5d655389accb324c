// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The `quantization_config` of a config.json: by which method the weights of a folder were
// quantised, which modules, and how their numbers lie in the files. docs/quantised.md lists what is
// understood.
//
// A method, a format or a value that is not is refused with the key, what was expected and what was
// found. A key without a meaning here is left to `config_check`, which names it as unknown.
#pragma once

#include "base/status.h"
#include "model/input_scheme.h"
#include "model/quantised_layout.h"

struct config;
struct quantised_config;

// How the weights of some modules are quantised.
struct quantised_scheme {
    const struct quantised_layout *layout;
    uint32_t bits; // Of a quant in words.
    // Values that share a scale; 0 is all of the axis. Both are 0 as well if the scales themselves
    // say it (`tiles_by_scales`).
    int64_t tile_rows, tile_columns;
    int tiles_by_scales;
    int64_t zero_added;      // To each zero point that is stored.
    int needs_zeros;         // Zero points are not optional,
    int needs_groups;        // nor are the groups of columns.
    const char *activations; // How inputs are quantised, if that is not understood; else NULL.
    int quantises_inputs;    // It is understood: `inputs` says it,
    struct input_scheme inputs;
    const char
        *input_factors; // but for the factor, in a tensor with one of these suffixes; or NULL.
};

// Reads what `config` says, at the key that model types of one part or of several have. `*out_read`
// is NULL if it says nothing: then the weights are plain. The caller owns the result. TAPML_INVALID
// for what is not understood.
tapml_status quantised_config_read(struct config *config,
                                   struct quantised_config **out_read) STATUS_USED;

// The same of FOLDER/config.json; nothing is read where there is no such file.
tapml_status quantised_config_open(const char *folder,
                                   struct quantised_config **out_read) STATUS_USED;

// NULL is allowed.
void quantised_config_destroy(struct quantised_config *quantised);

// Returns the name of the method: "fp8".
const char *quantised_config_method(const struct quantised_config *quantised);

// Returns what is quantised beside weights and their inputs, for messages; NULL is nothing.
const char *quantised_config_states(const struct quantised_config *quantised);

// Returns the number of schemes, and one by its index.
size_t quantised_config_count(const struct quantised_config *quantised);
const struct quantised_scheme *quantised_config_at(const struct quantised_config *quantised,
                                                   size_t index);

// Finds the scheme of a module, "model.layers.0.mlp.up_proj": that which names it, else that of all
// modules. `*out_scheme` is NULL if the config says that the module is plain, or no scheme is for
// it. TAPML_INVALID if an expression of the config takes too long.
tapml_status quantised_config_find(const struct quantised_config *quantised,
                                   const char *module,
                                   const struct quantised_scheme **out_scheme) STATUS_USED;
