// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The layouts of schemas: which strides a parameter takes.
//
// Pure functions of shapes and strides in elements: no memory, no errors, any thread.
#pragma once

#include "schema/affine.h"

enum layout { LAYOUT_DENSE, LAYOUT_ROWS, LAYOUT_STRIDED };

// The layout of that name, written to `out_layout`; 0: there is none.
int layout_find(const char *name, enum layout *out_layout);

// Whether strides are what a layout asks for. Dense: one run whose innermost stride is 1. Rows: the
// last axis is contiguous, and the others are at most two once those that continue each other are
// merged. Where symbols leave it open the answer is no.
int layout_fits(enum layout layout,
                const struct affine *shape,
                const struct affine *stride,
                uint32_t rank);

// The runs that axes 0 .. count - 1 form: within one, each axis continues the next. Axes of extent
// 1 belong to any run.
unsigned layout_runs(const struct affine *shape, const struct affine *stride, uint32_t count);
