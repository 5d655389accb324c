// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The checkpoint as model plugins see it: tapml.host.weights/1. Without a checkpoint it answers
// what the plugin expects.
#pragma once

#include "base/status.h"
#include "model/checkpoint.h"

#include <tapml/model.h>

struct weights;

// `checkpoint` may be NULL and outlives the weights. The caller owns the result.
tapml_status weights_create(const struct checkpoint *checkpoint,
                            struct weights **out_weights) STATUS_USED;
void weights_destroy(struct weights *weights);

// As an object for a plugin's functions; `weights_table` is its interface.
tapml_object *weights_object(struct weights *weights);
const tapml_host_weights *weights_table(void);

// The other way, for the graph builder.
const struct checkpoint *weights_checkpoint(tapml_object *object);
