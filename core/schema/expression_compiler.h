// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Compiles the texts of op schemas, whose grammar schema/expression.h gives.
#pragma once

#include "schema/expression.h"

struct arena;

// Compiles a text and adds the names that are new to `names`. The result lives in `arena` and
// borrows `text`. TAPML_INVALID says what is malformed, and quotes the text; TAPML_NO_MEMORY.
tapml_status expression_compiler_run(const char *text,
                                     struct expression_names *names,
                                     struct arena *arena,
                                     const struct expression **out_expression) STATUS_USED;
