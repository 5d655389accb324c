// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Values that no op makes: inputs, constants, weights, states.
#pragma once

#include "graph/draft.h"

struct checkpoint;

// Adds the value that `value` (kind, name, dtype and what belongs to its kind) and the shape of
// `view` describe. A constant gets its name from its content; an equal one, or a weight asked for
// again, is the value there already. With a checkpoint (NULL: none) a weight's type and data come
// from it: TAPML_NOT_FOUND where it lacks the tensor, TAPML_INVALID where the shape is another.
tapml_status source_add(struct draft *draft,
                        const struct checkpoint *checkpoint,
                        const struct graph_value *value,
                        const struct view *view,
                        uint32_t *out_index) STATUS_USED;
