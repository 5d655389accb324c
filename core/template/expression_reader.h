// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Expressions: from tokens to a tree, with the precedence that Jinja has.
#pragma once

#include "template/cursor.h"

// A whole expression; where `allows_tuple`, commas make a tuple. Unknown filters and tests are
// refused by name.
tapml_status expression_reader_read(struct cursor *cursor,
                                    int allows_tuple,
                                    struct syntax **out_node) STATUS_USED;

// The same without "A if B else C", as between `in` and `if` of a loop.
tapml_status expression_reader_read_simple(struct cursor *cursor,
                                           struct syntax **out_node) STATUS_USED;

// What is assigned to: a name, NAME.ATTRIBUTE of a namespace (where `allows_attribute`), or a tuple
// of names.
tapml_status expression_reader_read_target(struct cursor *cursor,
                                           int allows_attribute,
                                           struct syntax **out_node) STATUS_USED;
