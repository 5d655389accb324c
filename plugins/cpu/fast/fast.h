// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/reference.h"

#include <tapml/ops.h>

// The devices of the component `cpu`: one for each level of instructions that this machine has, the
// highest first. Each has all ops of the reference's device `f32`, some of them in a fast form.
enum { FAST_LEVEL_MAX = 4 };

// The tables of the component, which lie in its root object.
struct fast {
    struct memory_component component;
    const tapml_device_info *infos[FAST_LEVEL_MAX];
    const void *devices[FAST_LEVEL_MAX];
    struct reference_device storage[FAST_LEVEL_MAX];
    const tapml_op_impl *impls[FAST_LEVEL_MAX][TAPML_OPS_COUNT];
};

// Fills `fast` for this machine. An op that has no fast form is taken from the reference, whatever
// it is: what is added there is here too.
void fast_init(struct fast *fast);
