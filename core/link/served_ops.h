// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops of a server by their index on the wire: those of its catalogue that the backend has, and
// behind these what the other side has defined.
//
// One thread.
#pragma once

#include "link/message.h"
#include "schema/catalogue.h"

enum { SERVED_OPS_DEFINED_MAX = 1024 };

// All zero before it is listed. Its memory is that of the arena.
struct served_ops {
    struct backend *backend;
    struct catalogue *catalogue;
    struct arena *arena;
    const struct compiled_op **items;
    size_t count;
    size_t listed; // Of these, the ones that were not defined by the other side.
};

// Lists the ops of a backend; all three outlive the list. TAPML_NO_MEMORY.
tapml_status served_ops_list(struct served_ops *ops,
                             struct backend *backend,
                             struct catalogue *catalogue,
                             struct arena *arena) STATUS_USED;

// Takes an op of a message into the catalogue, and into the list if the backend has it;
// `*out_schema` is NULL if it lacks it. TAPML_INVALID for a garbled op, and behind
// SERVED_OPS_DEFINED_MAX of them; else as `catalogue_add` fails.
tapml_status served_ops_define(struct served_ops *ops,
                               struct wire_reader *reader,
                               const struct compiled_op **out_schema) STATUS_USED;

// Takes the index of an op from a message. TAPML_INVALID for one that is not there.
tapml_status served_ops_take(const struct served_ops *ops,
                             struct wire_reader *reader,
                             const struct compiled_op **out_schema) STATUS_USED;

// Writes all ops with their number; and whether an op was defined, NULL: it was not, with the op.
void served_ops_put_all(const struct served_ops *ops, struct wire_writer *replies);
void served_ops_put_defined(const struct served_ops *ops,
                            const struct compiled_op *schema,
                            struct wire_writer *replies);
