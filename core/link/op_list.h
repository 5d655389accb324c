// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops of a far side, by their index on the wire, with what computes each of them there
// (`backend_identity`), and how (`backend_arithmetic`).
//
// One thread.
#pragma once

#include "link/message.h"

struct catalogue;

enum { OP_LIST_SLOTS = 256 };

// All zero before it is taken.
struct op_list {
    const struct compiled_op **items;
    const char **identities;
    struct arithmetic *arithmetics;
    uint32_t count;
    struct {
        const tapml_op *key;
        uint32_t index; // `count`: it lacks it.
    } found[OP_LIST_SLOTS];
};

// Reads the list into `arena`, and the ops into `catalogue`. `component` names the far side in
// messages. If the list was read before, and the far side has started again, the old list stays and
// `*out_is_new` is 0; TAPML_DEVICE_LOST if the new one has another number of ops.
tapml_status op_list_take(struct op_list *list,
                          struct wire_reader *reader,
                          struct arena *arena,
                          struct catalogue *catalogue,
                          const char *component,
                          int *out_is_new) STATUS_USED;

// The index of the op with this name and version, or `count`. The last answer for each address is
// kept: schemas live as long as their plugins.
uint32_t op_list_find(struct op_list *list, const tapml_op *op);

// What computes an op of the list.
const char *op_list_identity(struct op_list *list, const tapml_op *op);

// How an op is computed; in f32 where it is not in the list.
const struct arithmetic *op_list_arithmetic(struct op_list *list, const tapml_op *op);
