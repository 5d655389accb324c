// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the files of a folder say of the inputs of each quantised weight.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct checkpoint;

// What was found in a folder, for quantised_inputs_attach.
struct quantised_inputs_list {
    struct quantised_inputs_of *items; // Of the checkpoint's arena.
    size_t count;
};

// Finds what the config.json of `folder` says of the inputs of each quantised weight, while the
// checkpoint still has the tensors of which these weights consist; a folder without a config.json
// says nothing. A weight without the tensor that its scheme takes the factor from has plain inputs.
// TAPML_INVALID names a factor that is none, or what is not understood.
tapml_status quantised_inputs_find(const char *folder,
                                   struct checkpoint *checkpoint,
                                   struct quantised_inputs_list *out_list) STATUS_USED;

// Gives the weights, once they are there, what was found of their inputs.
void quantised_inputs_attach(const struct quantised_inputs_list *list,
                             struct checkpoint *checkpoint);
