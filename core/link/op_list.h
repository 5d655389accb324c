// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops of a far side, by their index on the wire, with what computes each of them there
// (`backend_identity`), and how (`backend_arithmetic`).
//
// One thread.
#pragma once

#include "link/message.h"

struct catalogue;

enum { OP_LIST_SLOTS = 256, OP_LIST_DEFINED_MAX = 1024 };

// All zero before it is taken.
struct op_list {
    const struct compiled_op **items; // NULL: the far side has another op of this name.
    const char **identities;
    struct arithmetic *arithmetics;
    uint32_t count;
    uint32_t listed;          // Of these it has listed itself; the others were defined for it.
    const tapml_op **lacking; // That it was told of and has not.
    uint32_t lacking_count;
    struct {
        const tapml_op *key;
        uint32_t index; // `count`: it lacks it.
    } found[OP_LIST_SLOTS];
};

// Reads the list into `arena`, and the ops into `catalogue`. `component` names the far side in
// messages. An op that the catalogue knows with another schema is as one that the far side lacks,
// with a warning. If the list was read before, and the far side has started again, the old list
// stays and `*out_is_new` is 0; TAPML_DEVICE_LOST if the new one has another number of ops.
tapml_status op_list_take(struct op_list *list,
                          struct wire_reader *reader,
                          struct arena *arena,
                          struct catalogue *catalogue,
                          const char *component,
                          int *out_is_new) STATUS_USED;

// Adds an op that the far side was told of: as the next one, or as one that it lacks.
// TAPML_INVALID where there are OP_LIST_DEFINED_MAX of them, TAPML_NO_MEMORY.
tapml_status op_list_define(struct op_list *list,
                            const struct compiled_op *schema,
                            const char *identity,
                            const struct arithmetic *arithmetic) STATUS_USED;
tapml_status op_list_note_lacking(struct op_list *list, const tapml_op *op) STATUS_USED;

// Whether it is known that the far side lacks an op that it was told of.
int op_list_is_lacking(const struct op_list *list, const tapml_op *op);

// The index of the op with this name and version, or `count`. The last answer for each address is
// kept: schemas live as long as their plugins.
uint32_t op_list_find(struct op_list *list, const tapml_op *op);

// What computes an op of the list.
const char *op_list_identity(struct op_list *list, const tapml_op *op);

// How an op is computed; in f32 where it is not in the list.
const struct arithmetic *op_list_arithmetic(struct op_list *list, const tapml_op *op);
