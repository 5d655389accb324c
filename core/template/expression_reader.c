// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/expression_reader.h"

#include "template/conditions.h"
#include "template/filters.h"

#include <string.h>

static tapml_status read_condition(struct cursor *cursor, struct syntax **out_node);
static tapml_status read_unary(struct cursor *cursor, int with_filters, struct syntax **out_node);

static tapml_status
make(struct cursor *cursor, enum syntax_kind kind, const char *name, struct syntax **out_node)
{
    return syntax_new(cursor->budget, kind, cursor->at->line, name, out_node);
}

static tapml_status add(struct cursor *cursor, struct syntax *node, struct syntax *part)
{
    return syntax_add(cursor->budget, node, &node->parts, part);
}

// Makes a node of `kind` of which `*node` is the first part, in its place.
static tapml_status
wrap(struct cursor *cursor, enum syntax_kind kind, const char *name, struct syntax **node)
{
    struct syntax *outer = NULL;
    TAPML_TRY(make(cursor, kind, name, &outer));
    TAPML_TRY(add(cursor, outer, *node));
    *node = outer;
    return TAPML_OK;
}

// Reads an expression as the next part of `node`.
static tapml_status read_part(struct cursor *cursor, struct syntax *node)
{
    struct syntax *part = NULL;
    TAPML_TRY(read_condition(cursor, &part));
    return add(cursor, node, part);
}

// -- Primaries ---------------------------------------------------------------------------------

static tapml_status
make_constant(struct cursor *cursor, const struct datum *constant, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_CONSTANT, NULL, out_node));
    (*out_node)->constant = *constant;
    ++cursor->at;
    return TAPML_OK;
}

static tapml_status read_name(struct cursor *cursor, struct syntax **out_node)
{
    static const char *const words[] = {"false", "False", "true", "True", "none", "None", NULL};
    const char *name = cursor->at->bytes;
    for (int i = 0; words[i]; ++i) {
        if (strcmp(words[i], name) == 0) {
            const struct datum constant = i < 4 ? datum_bool(i >= 2) : datum_none();
            return make_constant(cursor, &constant, out_node);
        }
    }
    TAPML_TRY(make(cursor, SYNTAX_NAME, name, out_node));
    ++cursor->at;
    return TAPML_OK;
}

// Texts beside each other are one.
static tapml_status read_texts(struct cursor *cursor, struct syntax **out_node)
{
    struct datum text = datum_text(cursor->at->bytes, cursor->at->length);
    while (cursor->at[1].kind == TOKEN_TEXT) {
        const struct token *next = &cursor->at[1];
        void *joined = NULL;
        TAPML_TRY(budget_array(cursor->budget, text.text.length + next->length + 1, 1, &joined));
        memcpy(joined, text.text.bytes, text.text.length);
        memcpy((char *)joined + text.text.length, next->bytes, next->length);
        text = datum_text(joined, text.text.length + next->length);
        ++cursor->at;
    }
    return make_constant(cursor, &text, out_node);
}

// Expressions between commas up to `end`, which may stand behind a comma.
static tapml_status read_items(struct cursor *cursor, const char *end, struct syntax *node)
{
    while (!cursor_is(cursor, end)) {
        if (node->parts.count > 0) {
            TAPML_TRY(cursor_expect(cursor, ","));
        }
        if (!cursor_is(cursor, end)) {
            TAPML_TRY(read_part(cursor, node));
        }
    }
    return cursor_expect(cursor, end);
}

static tapml_status read_list(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_LIST, NULL, out_node));
    ++cursor->at;
    return read_items(cursor, "]", *out_node);
}

static tapml_status read_map(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_MAP, NULL, out_node));
    ++cursor->at;
    while (!cursor_is(cursor, "}")) {
        if ((*out_node)->parts.count > 0) {
            TAPML_TRY(cursor_expect(cursor, ","));
        }
        if (!cursor_is(cursor, "}")) {
            TAPML_TRY(read_part(cursor, *out_node));
            TAPML_TRY(cursor_expect(cursor, ":"));
            TAPML_TRY(read_part(cursor, *out_node));
        }
    }
    return cursor_expect(cursor, "}");
}

static tapml_status read_parentheses(struct cursor *cursor, struct syntax **out_node)
{
    struct syntax *first = NULL;
    ++cursor->at;
    if (!cursor_is(cursor, ")")) {
        TAPML_TRY(read_condition(cursor, &first));
        if (cursor_skip(cursor, ")")) {
            *out_node = first;
            return TAPML_OK;
        }
    }
    TAPML_TRY(make(cursor, SYNTAX_TUPLE, NULL, out_node));
    if (first) {
        TAPML_TRY(add(cursor, *out_node, first));
    }
    return read_items(cursor, ")", *out_node);
}

static tapml_status read_primary(struct cursor *cursor, struct syntax **out_node)
{
    const struct token *token = cursor->at;
    struct datum constant = datum_integer(token->integer);
    if (token->kind == TOKEN_NAME) {
        return read_name(cursor, out_node);
    }
    if (token->kind == TOKEN_TEXT) {
        return read_texts(cursor, out_node);
    }
    if (token->kind == TOKEN_REAL) {
        constant = (struct datum){.kind = DATUM_REAL, .real = token->real};
    }
    if (token->kind == TOKEN_REAL || token->kind == TOKEN_INTEGER) {
        return make_constant(cursor, &constant, out_node);
    }
    return cursor_is(cursor, "(")   ? read_parentheses(cursor, out_node)
           : cursor_is(cursor, "[") ? read_list(cursor, out_node)
           : cursor_is(cursor, "{") ? read_map(cursor, out_node)
                                    : cursor_fail(cursor, "an expression");
}

// -- What stands behind ------------------------------------------------------------------------

// Reads "(A, B, name=C)" as further parts.
static tapml_status read_arguments(struct cursor *cursor, struct syntax *node)
{
    int has_keyword = 0;
    TAPML_TRY(cursor_expect(cursor, "("));
    while (!cursor_is(cursor, ")")) {
        struct syntax *keyword = NULL;
        if (cursor_is(cursor, "*") || cursor_is(cursor, "**")) {
            return cursor_unsupported(cursor, cursor->at->line, "argument", cursor->at->bytes);
        }
        if (cursor->at->kind == TOKEN_NAME && cursor_next_is(cursor, "=")) {
            has_keyword = 1;
            TAPML_TRY(make(cursor, SYNTAX_KEYWORD, cursor->at->bytes, &keyword));
            cursor->at += 2;
            TAPML_TRY(read_part(cursor, keyword));
            TAPML_TRY(add(cursor, node, keyword));
        } else if (has_keyword) {
            return cursor_fail(cursor, "an argument with a name");
        } else {
            TAPML_TRY(read_part(cursor, node));
        }
        if (!cursor_is(cursor, ")")) {
            TAPML_TRY(cursor_expect(cursor, ","));
        }
    }
    return cursor_expect(cursor, ")");
}

static int ends_bound(const struct cursor *cursor)
{
    return cursor_is(cursor, ":") || cursor_is(cursor, "]");
}

// Reads the bound of a slice, which may be absent.
static tapml_status read_bound(struct cursor *cursor, struct syntax *slice)
{
    return ends_bound(cursor) ? add(cursor, slice, NULL) : read_part(cursor, slice);
}

static tapml_status read_item(struct cursor *cursor, struct syntax **node)
{
    struct syntax *key = NULL;
    ++cursor->at;
    if (!cursor_is(cursor, ":")) {
        TAPML_TRY(read_condition(cursor, &key));
    }
    if (!cursor_is(cursor, ":")) {
        TAPML_TRY(wrap(cursor, SYNTAX_ITEM, NULL, node));
        TAPML_TRY(add(cursor, *node, key));
        return cursor_expect(cursor, "]");
    }
    TAPML_TRY(wrap(cursor, SYNTAX_SLICE, NULL, node));
    TAPML_TRY(add(cursor, *node, key));
    TAPML_TRY(cursor_expect(cursor, ":"));
    TAPML_TRY(read_bound(cursor, *node));
    if (cursor_skip(cursor, ":")) {
        TAPML_TRY(read_bound(cursor, *node));
    } else {
        TAPML_TRY(add(cursor, *node, NULL));
    }
    return cursor_expect(cursor, "]");
}

static tapml_status read_attribute(struct cursor *cursor, struct syntax **node)
{
    const char *name = NULL;
    ++cursor->at;
    if (cursor->at->kind == TOKEN_INTEGER) {
        struct syntax *key = NULL;
        TAPML_TRY(read_primary(cursor, &key));
        TAPML_TRY(wrap(cursor, SYNTAX_ITEM, NULL, node));
        return add(cursor, *node, key);
    }
    TAPML_TRY(cursor_expect_name(cursor, &name));
    if (name[0] == '_' && name[1] == '_') {
        return cursor_unsupported(cursor, cursor->at->line, "attribute", name);
    }
    return wrap(cursor, SYNTAX_ATTRIBUTE, name, node);
}

static tapml_status read_call(struct cursor *cursor, struct syntax **node)
{
    TAPML_TRY(wrap(cursor, SYNTAX_CALL, NULL, node));
    return read_arguments(cursor, *node);
}

static tapml_status read_postfix(struct cursor *cursor, struct syntax **node)
{
    for (;;) {
        if (cursor_is(cursor, ".")) {
            TAPML_TRY(read_attribute(cursor, node));
        } else if (cursor_is(cursor, "[")) {
            TAPML_TRY(read_item(cursor, node));
        } else if (cursor_is(cursor, "(")) {
            TAPML_TRY(read_call(cursor, node));
        } else {
            return TAPML_OK;
        }
    }
}

static tapml_status read_filter(struct cursor *cursor, struct syntax **node)
{
    const char *name = NULL;
    const unsigned line = cursor->at->line;
    ++cursor->at;
    TAPML_TRY(cursor_expect_name(cursor, &name));
    if (!filters_know(name)) {
        return cursor_unsupported(cursor, line, "filter", name);
    }
    TAPML_TRY(wrap(cursor, SYNTAX_FILTER, name, node));
    return cursor_is(cursor, "(") ? read_arguments(cursor, *node) : TAPML_OK;
}

// Whether an argument of a test follows without parentheses.
static int has_bare_argument(const struct cursor *cursor)
{
    static const char *const words[] = {"else", "or", "and", "is", "if", "in", "not", NULL};
    const enum token_kind kind = cursor->at->kind;
    for (int i = 0; words[i]; ++i) {
        if (cursor_is_name(cursor, words[i])) {
            return 0;
        }
    }
    return kind == TOKEN_NAME || kind == TOKEN_TEXT || kind == TOKEN_INTEGER ||
           kind == TOKEN_REAL || cursor_is(cursor, "[") || cursor_is(cursor, "{");
}

static tapml_status read_test(struct cursor *cursor, struct syntax **node)
{
    const char *name = NULL;
    struct syntax *argument = NULL;
    const unsigned line = cursor->at->line;
    ++cursor->at;
    const int is_negated = cursor_skip_name(cursor, "not");
    if (cursor_is(cursor, "==")) { // The one test whose name is an operator.
        name = cursor->at->bytes;
        ++cursor->at;
    } else {
        TAPML_TRY(cursor_expect_name(cursor, &name));
    }
    if (!conditions_know(name)) {
        return cursor_unsupported(cursor, line, "test", name);
    }
    TAPML_TRY(wrap(cursor, SYNTAX_TEST, name, node));
    if (cursor_is(cursor, "(")) {
        TAPML_TRY(read_arguments(cursor, *node));
    } else if (has_bare_argument(cursor)) {
        struct syntax *test = *node;
        TAPML_TRY(read_primary(cursor, &argument));
        TAPML_TRY(read_postfix(cursor, &argument));
        TAPML_TRY(add(cursor, test, argument));
    }
    return is_negated ? wrap(cursor, SYNTAX_UNARY, "not", node) : TAPML_OK;
}

static tapml_status read_filters(struct cursor *cursor, struct syntax **node)
{
    for (;;) {
        if (cursor_is(cursor, "|")) {
            TAPML_TRY(read_filter(cursor, node));
        } else if (cursor_is_name(cursor, "is")) {
            TAPML_TRY(read_test(cursor, node));
        } else if (cursor_is(cursor, "(")) {
            TAPML_TRY(read_call(cursor, node));
        } else {
            return TAPML_OK;
        }
    }
}

// -- Operators ---------------------------------------------------------------------------------

static tapml_status read_signed(struct cursor *cursor, struct syntax **out_node)
{
    const char *sign = cursor->at->bytes;
    ++cursor->at;
    TAPML_TRY(budget_enter(cursor->budget)); // A row of signs.
    const tapml_status status = read_unary(cursor, 0, out_node);
    budget_leave(cursor->budget);
    return status == TAPML_OK ? wrap(cursor, SYNTAX_UNARY, sign, out_node) : status;
}

static tapml_status read_unary(struct cursor *cursor, int with_filters, struct syntax **out_node)
{
    TAPML_TRY(cursor_is(cursor, "-") || cursor_is(cursor, "+") ? read_signed(cursor, out_node)
                                                               : read_primary(cursor, out_node));
    TAPML_TRY(read_postfix(cursor, out_node));
    return with_filters ? read_filters(cursor, out_node) : TAPML_OK;
}

// The operators that join to the left, from those that bind most.
static const char *const levels[][5] = {
    {"**", NULL},
    {"*", "/", "//", "%", NULL},
    {"~", NULL},
    {"+", "-", NULL},
};

enum { LEVEL_COUNT = sizeof(levels) / sizeof(levels[0]) };

static const char *operator_of(const struct cursor *cursor, int level)
{
    for (int i = 0; levels[level][i]; ++i) {
        if (cursor_is(cursor, levels[level][i])) {
            return levels[level][i];
        }
    }
    return NULL;
}

static tapml_status read_level(struct cursor *cursor, int level, struct syntax **out_node)
{
    if (level < 0) {
        return read_unary(cursor, 1, out_node);
    }
    TAPML_TRY(read_level(cursor, level - 1, out_node));
    for (const char *name = NULL; (name = operator_of(cursor, level)) != NULL;) {
        struct syntax *right = NULL;
        TAPML_TRY(wrap(cursor, SYNTAX_BINARY, name, out_node));
        ++cursor->at;
        TAPML_TRY(read_level(cursor, level - 1, &right));
        TAPML_TRY(add(cursor, *out_node, right));
    }
    return TAPML_OK;
}

// Passes over a comparison, of which the name is returned; or NULL.
static const char *skip_comparison(struct cursor *cursor)
{
    static const char *const names[] = {"==", "!=", ">=", "<=", ">", "<", NULL};
    for (int i = 0; names[i]; ++i) {
        if (cursor_skip(cursor, names[i])) {
            return names[i];
        }
    }
    if (cursor_is_name(cursor, "not") && cursor_next_is_name(cursor, "in")) {
        cursor->at += 2;
        return "not in";
    }
    return cursor_skip_name(cursor, "in") ? "in" : NULL;
}

static tapml_status read_comparison(struct cursor *cursor, struct syntax **out_node)
{
    int is_first = 1;
    TAPML_TRY(read_level(cursor, LEVEL_COUNT - 1, out_node));
    for (const char *name = NULL; (name = skip_comparison(cursor)) != NULL; is_first = 0) {
        struct syntax *operand = NULL;
        struct syntax *right = NULL;
        if (is_first) {
            TAPML_TRY(wrap(cursor, SYNTAX_COMPARE, NULL, out_node));
        }
        TAPML_TRY(make(cursor, SYNTAX_OPERAND, name, &operand));
        TAPML_TRY(read_level(cursor, LEVEL_COUNT - 1, &right));
        TAPML_TRY(add(cursor, operand, right));
        TAPML_TRY(add(cursor, *out_node, operand));
    }
    return TAPML_OK;
}

static tapml_status read_not(struct cursor *cursor, struct syntax **out_node)
{
    size_t count = 0;
    while (cursor_skip_name(cursor, "not")) {
        ++count;
    }
    TAPML_TRY(read_comparison(cursor, out_node));
    for (; count > 0; --count) {
        TAPML_TRY(wrap(cursor, SYNTAX_UNARY, "not", out_node));
    }
    return TAPML_OK;
}

static tapml_status read_and(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(read_not(cursor, out_node));
    while (cursor_skip_name(cursor, "and")) {
        struct syntax *right = NULL;
        TAPML_TRY(wrap(cursor, SYNTAX_BINARY, "and", out_node));
        TAPML_TRY(read_not(cursor, &right));
        TAPML_TRY(add(cursor, *out_node, right));
    }
    return TAPML_OK;
}

tapml_status expression_reader_read_simple(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(read_and(cursor, out_node));
    while (cursor_skip_name(cursor, "or")) {
        struct syntax *right = NULL;
        TAPML_TRY(wrap(cursor, SYNTAX_BINARY, "or", out_node));
        TAPML_TRY(read_and(cursor, &right));
        TAPML_TRY(add(cursor, *out_node, right));
    }
    return TAPML_OK;
}

static tapml_status read_conditions(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(expression_reader_read_simple(cursor, out_node));
    while (cursor_skip_name(cursor, "if")) {
        struct syntax *test = NULL;
        struct syntax *otherwise = NULL;
        TAPML_TRY(wrap(cursor, SYNTAX_CONDITION, NULL, out_node));
        TAPML_TRY(expression_reader_read_simple(cursor, &test));
        TAPML_TRY(add(cursor, *out_node, test));
        if (cursor_skip_name(cursor, "else")) {
            TAPML_TRY(read_condition(cursor, &otherwise));
        }
        TAPML_TRY(add(cursor, *out_node, otherwise));
    }
    return TAPML_OK;
}

// Each level of nesting takes a dozen functions here, so that brackets and `else` are bounded.
static tapml_status read_condition(struct cursor *cursor, struct syntax **out_node)
{
    const size_t cost = BUDGET_DEPTH / SYNTAX_DEPTH_MAX;
    if (cursor->budget->depth_left < cost) {
        return status_fail(TAPML_INVALID, "%s:%u: expressions are nested too deeply", cursor->name,
                           cursor->at->line);
    }
    cursor->budget->depth_left -= cost;
    const tapml_status status = read_conditions(cursor, out_node);
    cursor->budget->depth_left += cost;
    return status;
}

tapml_status
expression_reader_read(struct cursor *cursor, int allows_tuple, struct syntax **out_node)
{
    TAPML_TRY(read_condition(cursor, out_node));
    if (!allows_tuple || !cursor_is(cursor, ",")) {
        return TAPML_OK;
    }
    TAPML_TRY(wrap(cursor, SYNTAX_TUPLE, NULL, out_node));
    while (cursor_skip(cursor, ",") && cursor->at->kind != TOKEN_BLOCK_END &&
           cursor->at->kind != TOKEN_VARIABLE_END) {
        TAPML_TRY(read_part(cursor, *out_node));
    }
    return TAPML_OK;
}

static tapml_status
read_target(struct cursor *cursor, int allows_attribute, struct syntax **out_node)
{
    const char *name = NULL;
    const struct token *token = cursor->at;
    TAPML_TRY(cursor_expect_name(cursor, &name));
    --cursor->at;
    TAPML_TRY(read_name(cursor, out_node));
    if ((*out_node)->kind != SYNTAX_NAME) {
        cursor->at = token;
        return cursor_fail(cursor, "a name that can be assigned");
    }
    return allows_attribute && cursor_is(cursor, ".") ? read_attribute(cursor, out_node) : TAPML_OK;
}

tapml_status
expression_reader_read_target(struct cursor *cursor, int allows_attribute, struct syntax **out_node)
{
    const int has_parentheses = cursor_skip(cursor, "(");
    TAPML_TRY(read_target(cursor, allows_attribute, out_node));
    if (cursor_is(cursor, ",")) {
        TAPML_TRY(wrap(cursor, SYNTAX_TUPLE, NULL, out_node));
    }
    while (cursor_skip(cursor, ",")) {
        struct syntax *next = NULL;
        TAPML_TRY(read_target(cursor, allows_attribute, &next));
        TAPML_TRY(add(cursor, *out_node, next));
    }
    return has_parentheses ? cursor_expect(cursor, ")") : TAPML_OK;
}
