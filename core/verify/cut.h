// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Makes a case of any op smaller, along the symbols of the op's schema.
//
// A symbol of the schema ("T", "in", an axis of "*rows") stands in the shapes of several
// parameters, which are cut together; regions of states, the positions that move with them, and
// integers that choose rows are adapted. The result is a call that the schema allows, with other
// values: its outputs must be computed again.
//
// One thread. New cases are in the arena that is given. TAPML_NO_MEMORY, and the failures that a
// function names.
#pragma once

#include "base/status.h"
#include "schema/infer.h"
#include "store/case.h"

struct arena;

enum { CUT_AXES_MAX = 32 };

// What can be cut: an extent, or a number that a region grows with, such as a position.
struct cut_axis {
    uint32_t symbol; // Of the schema.
    uint32_t part;   // The axis of a symbol such as "*rows".
    int64_t extent;
    int is_number; // A number is cut at its end only, down to 0; an extent down to 1.
};

struct cut {
    const struct carved_case *item;
    const struct compiled_op *schema;
    struct inferred inferred;
    uint32_t axis_count;
    struct cut_axis axes[CUT_AXES_MAX];
};

// Lists what can be cut, in the order of the schema: the same list for every case of an op with the
// same ranks. The case and the op are borrowed. TAPML_INVALID if the case is no call of the op.
tapml_status cut_open(const struct carved_case *item,
                      const struct compiled_op *schema,
                      struct cut *out_cut) STATUS_USED;

// The case with `begin` .. `end` - 1 of an axis, in `arena`; names are borrowed. Weights that are
// cut must be inlined. Dense tensors stay dense, views keep their strides and offset. Outputs are
// zeros. TAPML_INVALID if the schema, or the rows that the case kept of a state, do not allow the
// cut.
tapml_status cut_case(const struct cut *cut,
                      uint32_t axis,
                      int64_t begin,
                      int64_t end,
                      struct arena *arena,
                      struct carved_case *out_case) STATUS_USED;

// Checks the whole call of a case that was made of another one, and names the class of its shapes.
// TAPML_INVALID if the schema does not allow it.
tapml_status cut_settle(const struct compiled_op *schema,
                        struct arena *arena,
                        struct carved_case *io_case) STATUS_USED;
