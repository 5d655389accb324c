// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The checkpoint as model plugins see it: tapml.host.weights/1. Without a checkpoint every query
// gets the answer that the plugin expects.
#pragma once

#include "base/status.h"
#include "model/checkpoint.h"

#include <tapml/model.h>

struct weights;

// Creates the object for `checkpoint`, which may be NULL and must outlive it. The caller owns the
// result.
tapml_status weights_create(const struct checkpoint *checkpoint,
                            struct weights **out_weights) STATUS_USED;

// NULL is allowed.
void weights_destroy(struct weights *weights);

// Returns the object for the functions of `weights_table`. It lives as long as `weights`.
tapml_object *weights_object(struct weights *weights);

// Returns the interface of the object. It is constant.
const tapml_host_weights *weights_table(void);

// Returns the checkpoint of an object, or NULL if it has none; for the graph builder.
const struct checkpoint *weights_checkpoint(tapml_object *object);
