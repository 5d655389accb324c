// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tree of a template: statements and expressions, each with its line.
//
// A tree belongs to the arena of the budget that it was made from, and is constant once it is read.
#pragma once

#include "template/datum.h"

#include <stddef.h>

enum {
    SYNTAX_DEPTH_MAX = 200, // From the root to a leaf.
};

enum syntax_kind {
    // Expressions. `parts` are the operands.
    SYNTAX_CONSTANT,  // constant
    SYNTAX_NAME,      // name
    SYNTAX_ATTRIBUTE, // object; name
    SYNTAX_ITEM,      // object, key
    SYNTAX_SLICE,     // object, begin or NULL, end or NULL, step or NULL
    SYNTAX_CALL,      // callee, arguments
    SYNTAX_FILTER,    // input, arguments; name
    SYNTAX_TEST,      // input, arguments; name
    SYNTAX_KEYWORD,   // value; name: among arguments
    SYNTAX_UNARY,     // operand; name is "-", "+" or "not"
    SYNTAX_BINARY,    // left, right; name is the operator; "and" and "or" too
    SYNTAX_COMPARE,   // first, then one SYNTAX_OPERAND for each comparison
    SYNTAX_OPERAND,   // value; name is the comparison
    SYNTAX_CONDITION, // value, test, otherwise or NULL
    SYNTAX_LIST,      // items
    SYNTAX_TUPLE,     // items
    SYNTAX_MAP,       // key, value, key, value, ...
    // Statements. `body` is what stands within.
    SYNTAX_DATA,      // constant
    SYNTAX_OUTPUT,    // expression
    SYNTAX_IF,        // one SYNTAX_ARM for each branch
    SYNTAX_ARM,       // test, or none for else; body
    SYNTAX_FOR,       // target, items, test or NULL; body, otherwise
    SYNTAX_SET,       // target, value
    SYNTAX_SET_BODY,  // target; body is the value
    SYNTAX_MACRO,     // parameters: SYNTAX_NAME with the default as its part; name, body
    SYNTAX_SCOPE,     // body
    SYNTAX_CALL_BODY, // call, a macro named caller of the body
    SYNTAX_BREAK,
    SYNTAX_CONTINUE,
};

struct syntax_list {
    struct syntax **items;
    size_t count;
};

struct syntax {
    enum syntax_kind kind;
    unsigned line;
    unsigned depth; // Of the tree below: 1 for a leaf.
    const char *name;
    struct datum constant;
    struct syntax_list parts;
    struct syntax_list body, otherwise;
};

// Makes a node; `name` is borrowed and may be NULL.
tapml_status syntax_new(struct budget *budget,
                        enum syntax_kind kind,
                        unsigned line,
                        const char *name,
                        struct syntax **out_node) STATUS_USED;

// Appends `child`, which may be NULL, to `list` of `node`. TAPML_INVALID if the tree is too deep.
tapml_status syntax_add(struct budget *budget,
                        struct syntax *node,
                        struct syntax_list *list,
                        struct syntax *child) STATUS_USED;
