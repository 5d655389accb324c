// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Some neighbouring calls of a plain form as an op, and the whole op in which that one takes their
// place: what a part of a group computes can then be seen and judged by itself.
#pragma once

#include "schema/plain_frame.h"

// Calls [begin, end) of a form.
struct subgroup_range {
    uint32_t begin, end;
};

struct subgroup {
    const struct compiled_op *part;  // The calls.
    const struct compiled_op *whole; // The op, with one call of `part` in their place.
};

// Makes both ops, in `arena`, which outlives the catalogue that takes them in. `frame` was
// evaluated for a call of the op, with `inferred`: extents of temporaries are those of that call.
// Fails as `catalogue_add`; TAPML_UNIMPLEMENTED if the form uses leading axes, for which no number
// stands, or where there are too many parameters.
tapml_status subgroup_make(const struct plain_frame *frame,
                           const struct inferred *inferred,
                           const struct subgroup_range *range,
                           struct catalogue *catalogue,
                           struct arena *arena,
                           struct subgroup *out_subgroup) STATUS_USED;
