// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a compiled text of a schema consists of: written by schema/expression_compiler, read by
// schema/expression, and known to no one else.
#pragma once

#include <stdint.h>

// Values of a sum at once: two for each parenthesis, and those of the outermost sum.
enum { EXPRESSION_FORM_STACK = 40 };

// A piece of a schema's text.
struct span {
    const char *at;
    const char *end;
};

// How many bytes it has, as "%.*s" takes them; and the piece without the blanks around it.
int expression_form_length(struct span span);
struct span expression_form_trim(struct span span);

// A sum is a postfix program: what it takes is on top of a stack of values.
enum expression_step_kind {
    STEP_NUMBER,
    STEP_SYMBOL,
    STEP_ADD,
    STEP_SUBTRACT,
    STEP_MULTIPLY,
    STEP_DIVIDE
};

struct expression_step {
    enum expression_step_kind kind;
    uint32_t symbol;
    int64_t number;
};

struct sum {
    const struct expression_step *steps;
    uint32_t count;
    struct span text; // Of an item: it begins behind the '*' of leading axes.
    uint32_t alone;   // The symbol that it consists of, or EXPRESSION_NONE.
    int is_rows;      // Leading axes.
};

// A shape without conditions.
struct items {
    const struct sum *sums;
    uint32_t count;
    struct span text;
};

// `condition ? [yes] : [no]`, indices of nodes; a leaf has items.
struct node {
    uint32_t condition; // EXPRESSION_NONE: a leaf.
    uint32_t yes, no;
    struct items items;
};

struct expression {
    int is_range;
    struct sum begin, end; // Of a range.
    const struct node *nodes;
    uint32_t node_count;
    uint32_t uses; // A bit for each symbol.
};
