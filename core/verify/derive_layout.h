// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tensors of cases that are made (verify/derive, verify/derive_first): laid out as the schema of
// their op says for the symbols at hand.
//
// Any thread.
#pragma once

#include "schema/compiled.h"
#include "store/case.h"

// Whether it is a kind of a single tensor, which lies so.
int derive_layout_has(uint32_t kind);

// What a symbol of a schema is: an i64 parameter; one that says which rows of a state are touched;
// any number of leading axes, "rows" of "*rows, width".
int derive_layout_is_attribute(const struct compiled_op *schema, uint32_t symbol);
int derive_layout_is_place(const struct compiled_op *schema, uint32_t symbol);
int derive_layout_is_leading(const struct compiled_op *schema, uint32_t symbol);

// The rows of a state that the call touches, whose schema says which. Fails as expression_range.
tapml_status derive_layout_region(const struct compiled_op *schema,
                                  const struct expression_scope *scope,
                                  uint32_t index,
                                  int64_t *out_begin,
                                  int64_t *out_end) STATUS_USED;

// Lays a tensor out, dense, at the begin of a base value of its own: shape, strides, sizes, and of
// a state the rows that are touched and the pages around them. Kind, effects, dtype and encoding of
// `io_argument`, of the parameter `index`, are there; it has no contents then. TAPML_INVALID where
// an axis would be empty, the tensor too large, or a state has no such rows.
tapml_status derive_layout_place(const struct compiled_op *schema,
                                 const struct expression_scope *scope,
                                 uint32_t index,
                                 struct case_argument *io_argument) STATUS_USED;
