// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What expressions come to, and the variables that they see.
#pragma once

#include "template/arguments.h"
#include "template/syntax.h"

struct scope_variable {
    const char *name;
    struct datum value;
};

// The variables of a block; those of the blocks around it are seen through `outer`.
struct evaluator_scope {
    const struct evaluator_scope *outer;
    struct scope_variable *variables;
    size_t count;
};

// What the variable `loop` refers to.
struct evaluator_loop {
    const struct datum_list *items;
    size_t index;
    size_t depth; // 0: not within another loop.
};

// What a function refers to.
struct evaluator_function {
    const char *name;
    const struct syntax *macro;    // NULL: one of template/functions.h, or a method.
    struct evaluator_scope *scope; // Where the macro was defined.
};

struct evaluator {
    struct budget *budget;
    const char *name; // Of the template, for messages.
    int64_t now;      // As functions_call takes it.
    struct evaluator_scope *scope;
    int is_explained; // A failure has its line already.

    // Renders a macro, which is the statements' business.
    tapml_status (*call_macro)(struct evaluator *evaluator,
                               const struct evaluator_function *function,
                               const struct arguments *arguments,
                               struct datum *out_text);
};

// The value of an expression. The message of a failure begins with "NAME:LINE: ".
tapml_status evaluator_evaluate(struct evaluator *evaluator,
                                const struct syntax *node,
                                struct datum *out_value) STATUS_USED;

// Puts name and line before the message of a failure, unless it has them.
tapml_status evaluator_explain(struct evaluator *evaluator, unsigned line, tapml_status status);

// Makes an empty scope within `outer`.
tapml_status evaluator_open_scope(struct evaluator *evaluator,
                                  const struct evaluator_scope *outer,
                                  struct evaluator_scope **out_scope) STATUS_USED;

// Sets a variable of the innermost scope.
tapml_status
evaluator_set(struct evaluator *evaluator, const char *name, const struct datum *value) STATUS_USED;
