// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/statement_reader.h"

#include "template/expression_reader.h"

#include <string.h>

static tapml_status
read_statement(struct cursor *cursor, struct syntax_list *body, struct syntax *owner);

static tapml_status
make(struct cursor *cursor, enum syntax_kind kind, const char *name, struct syntax **out_node)
{
    return syntax_new(cursor->budget, kind, cursor->at->line, name, out_node);
}

// Whether a tag begins here whose word is one of `words`, which are separated by blanks.
static int is_end(const struct cursor *cursor, const char *words)
{
    if (cursor->at->kind != TOKEN_BLOCK_BEGIN || cursor->at[1].kind != TOKEN_NAME) {
        return 0;
    }
    const struct token *word = &cursor->at[1];
    for (const char *at = words; *at;) {
        const size_t length = strcspn(at, " ");
        if (length == word->length && strncmp(at, word->bytes, length) == 0) {
            return 1;
        }
        at += length + (at[length] == ' ');
    }
    return 0;
}

// Reads what stands up to a tag of `ends`, whose word is then next.
static tapml_status
read_body(struct cursor *cursor, const char *ends, struct syntax *owner, struct syntax_list *body)
{
    const unsigned line = cursor->at->line;
    while (!is_end(cursor, ends)) {
        if (cursor->at->kind == TOKEN_END) {
            return status_fail(TAPML_INVALID, "%s:%u: the tag is never ended: expected '%s'",
                               cursor->name, line, ends);
        }
        TAPML_TRY(read_statement(cursor, body, owner));
    }
    ++cursor->at;
    return TAPML_OK;
}

// The end of a tag that has only a word.
static tapml_status end_word(struct cursor *cursor)
{
    ++cursor->at;
    return cursor_expect_kind(cursor, TOKEN_BLOCK_END);
}

// -- if ----------------------------------------------------------------------------------------

static tapml_status read_arm(struct cursor *cursor, struct syntax *node, int has_test)
{
    struct syntax *arm = NULL;
    struct syntax *test = NULL;
    TAPML_TRY(make(cursor, SYNTAX_ARM, NULL, &arm));
    ++cursor->at;
    if (has_test) {
        TAPML_TRY(expression_reader_read(cursor, 1, &test));
        TAPML_TRY(syntax_add(cursor->budget, arm, &arm->parts, test));
    }
    TAPML_TRY(cursor_expect_kind(cursor, TOKEN_BLOCK_END));
    TAPML_TRY(read_body(cursor, has_test ? "elif else endif" : "endif", arm, &arm->body));
    return syntax_add(cursor->budget, node, &node->parts, arm);
}

static tapml_status read_if(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_IF, NULL, out_node));
    TAPML_TRY(read_arm(cursor, *out_node, 1));
    while (cursor_is_name(cursor, "elif")) {
        TAPML_TRY(read_arm(cursor, *out_node, 1));
    }
    if (cursor_is_name(cursor, "else")) {
        TAPML_TRY(read_arm(cursor, *out_node, 0));
    }
    return end_word(cursor);
}

// -- for ---------------------------------------------------------------------------------------

static tapml_status read_for_head(struct cursor *cursor, struct syntax *node)
{
    struct syntax *parts[3] = {NULL};
    ++cursor->at;
    TAPML_TRY(expression_reader_read_target(cursor, 0, &parts[0]));
    if (!cursor_skip_name(cursor, "in")) {
        return cursor_fail(cursor, "'in'");
    }
    TAPML_TRY(expression_reader_read_simple(cursor, &parts[1]));
    if (cursor_skip_name(cursor, "if")) {
        TAPML_TRY(expression_reader_read(cursor, 0, &parts[2]));
    }
    if (cursor_is_name(cursor, "recursive")) {
        return cursor_unsupported(cursor, cursor->at->line, "loop", "recursive");
    }
    for (int i = 0; i < 3; ++i) {
        TAPML_TRY(syntax_add(cursor->budget, node, &node->parts, parts[i]));
    }
    return cursor_expect_kind(cursor, TOKEN_BLOCK_END);
}

static tapml_status read_for(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_FOR, NULL, out_node));
    TAPML_TRY(read_for_head(cursor, *out_node));
    TAPML_TRY(read_body(cursor, "else endfor", *out_node, &(*out_node)->body));
    if (cursor_is_name(cursor, "else")) {
        TAPML_TRY(end_word(cursor));
        TAPML_TRY(read_body(cursor, "endfor", *out_node, &(*out_node)->otherwise));
    }
    return end_word(cursor);
}

// -- set, macro, generation ----------------------------------------------------------------------

static tapml_status read_set(struct cursor *cursor, struct syntax **out_node)
{
    struct syntax *target = NULL;
    struct syntax *value = NULL;
    TAPML_TRY(make(cursor, SYNTAX_SET, NULL, out_node));
    ++cursor->at;
    TAPML_TRY(expression_reader_read_target(cursor, 1, &target));
    TAPML_TRY(syntax_add(cursor->budget, *out_node, &(*out_node)->parts, target));
    if (cursor_skip(cursor, "=")) {
        TAPML_TRY(expression_reader_read(cursor, 1, &value));
        TAPML_TRY(syntax_add(cursor->budget, *out_node, &(*out_node)->parts, value));
        return cursor_expect_kind(cursor, TOKEN_BLOCK_END);
    }
    if (cursor_is(cursor, "|")) {
        return cursor_unsupported(cursor, cursor->at->line, "statement", "set NAME | FILTER");
    }
    (*out_node)->kind = SYNTAX_SET_BODY;
    TAPML_TRY(cursor_expect_kind(cursor, TOKEN_BLOCK_END));
    TAPML_TRY(read_body(cursor, "endset", *out_node, &(*out_node)->body));
    return end_word(cursor);
}

static tapml_status read_parameter(struct cursor *cursor, struct syntax *macro)
{
    struct syntax *parameter = NULL;
    struct syntax *fallback = NULL;
    const char *name = NULL;
    TAPML_TRY(make(cursor, SYNTAX_NAME, NULL, &parameter));
    TAPML_TRY(cursor_expect_name(cursor, &name));
    parameter->name = name;
    if (cursor_skip(cursor, "=")) {
        TAPML_TRY(expression_reader_read(cursor, 0, &fallback));
        TAPML_TRY(syntax_add(cursor->budget, parameter, &parameter->parts, fallback));
    }
    return syntax_add(cursor->budget, macro, &macro->parts, parameter);
}

static tapml_status read_macro(struct cursor *cursor, struct syntax **out_node)
{
    const char *name = NULL;
    TAPML_TRY(make(cursor, SYNTAX_MACRO, NULL, out_node));
    ++cursor->at;
    TAPML_TRY(cursor_expect_name(cursor, &name));
    (*out_node)->name = name;
    TAPML_TRY(cursor_expect(cursor, "("));
    while (!cursor_is(cursor, ")")) {
        TAPML_TRY(read_parameter(cursor, *out_node));
        if (!cursor_is(cursor, ")")) {
            TAPML_TRY(cursor_expect(cursor, ","));
        }
    }
    ++cursor->at;
    TAPML_TRY(cursor_expect_kind(cursor, TOKEN_BLOCK_END));
    TAPML_TRY(read_body(cursor, "endmacro", *out_node, &(*out_node)->body));
    return end_word(cursor);
}

// What transformers marks as written by the assistant; it has a scope of its own.
static tapml_status read_generation(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_SCOPE, NULL, out_node));
    TAPML_TRY(end_word(cursor));
    TAPML_TRY(read_body(cursor, "endgeneration", *out_node, &(*out_node)->body));
    return end_word(cursor);
}

// {% call f() %} gives the macro f what stands within as the macro `caller`.
static tapml_status read_call(struct cursor *cursor, struct syntax **out_node)
{
    struct syntax *parts[2] = {NULL};
    struct syntax *keyword = NULL;
    struct syntax *name = NULL;
    TAPML_TRY(make(cursor, SYNTAX_CALL_BODY, NULL, out_node));
    ++cursor->at;
    TAPML_TRY(expression_reader_read(cursor, 0, &parts[0]));
    if (parts[0]->kind != SYNTAX_CALL) {
        return cursor_unsupported(cursor, (*out_node)->line, "statement", "call with parameters");
    }
    TAPML_TRY(make(cursor, SYNTAX_KEYWORD, "caller", &keyword));
    TAPML_TRY(make(cursor, SYNTAX_NAME, "caller", &name));
    TAPML_TRY(make(cursor, SYNTAX_MACRO, "caller", &parts[1]));
    TAPML_TRY(syntax_add(cursor->budget, keyword, &keyword->parts, name));
    TAPML_TRY(syntax_add(cursor->budget, parts[0], &parts[0]->parts, keyword));
    TAPML_TRY(cursor_expect_kind(cursor, TOKEN_BLOCK_END));
    TAPML_TRY(read_body(cursor, "endcall", parts[1], &parts[1]->body));
    for (int i = 0; i < 2; ++i) {
        TAPML_TRY(syntax_add(cursor->budget, *out_node, &(*out_node)->parts, parts[i]));
    }
    return end_word(cursor);
}

static tapml_status read_break(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_BREAK, NULL, out_node));
    return end_word(cursor);
}

static tapml_status read_continue(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_CONTINUE, NULL, out_node));
    return end_word(cursor);
}

// -- Any statement -----------------------------------------------------------------------------

static const struct {
    const char *word;
    tapml_status (*read)(struct cursor *cursor, struct syntax **out_node);
} statements[] = {
    {"if", read_if},       {"for", read_for},           {"set", read_set},
    {"macro", read_macro}, {"call", read_call},         {"generation", read_generation},
    {"break", read_break}, {"continue", read_continue},
};

static tapml_status read_tag(struct cursor *cursor, struct syntax **out_node)
{
    ++cursor->at;
    if (cursor->at->kind != TOKEN_NAME) {
        return cursor_fail(cursor, "the word of a statement");
    }
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); ++i) {
        if (cursor_is_name(cursor, statements[i].word)) {
            return statements[i].read(cursor, out_node);
        }
    }
    return cursor_unsupported(cursor, cursor->at->line, "statement", cursor->at->bytes);
}

static tapml_status read_output(struct cursor *cursor, struct syntax **out_node)
{
    struct syntax *value = NULL;
    TAPML_TRY(make(cursor, SYNTAX_OUTPUT, NULL, out_node));
    ++cursor->at;
    TAPML_TRY(expression_reader_read(cursor, 1, &value));
    TAPML_TRY(syntax_add(cursor->budget, *out_node, &(*out_node)->parts, value));
    return cursor_expect_kind(cursor, TOKEN_VARIABLE_END);
}

static tapml_status read_data(struct cursor *cursor, struct syntax **out_node)
{
    TAPML_TRY(make(cursor, SYNTAX_DATA, NULL, out_node));
    (*out_node)->constant = datum_text(cursor->at->bytes, cursor->at->length);
    ++cursor->at;
    return TAPML_OK;
}

static tapml_status
read_statement(struct cursor *cursor, struct syntax_list *body, struct syntax *owner)
{
    struct syntax *statement = NULL;
    TAPML_TRY(budget_enter(cursor->budget));
    tapml_status status = cursor->at->kind == TOKEN_DATA ? read_data(cursor, &statement)
                          : cursor->at->kind == TOKEN_VARIABLE_BEGIN
                              ? read_output(cursor, &statement)
                              : read_tag(cursor, &statement);
    budget_leave(cursor->budget);
    if (status == TAPML_OK) {
        status = syntax_add(cursor->budget, owner, body, statement);
    }
    return status;
}

tapml_status statement_reader_read(struct cursor *cursor, struct syntax **out_root)
{
    TAPML_TRY(make(cursor, SYNTAX_SCOPE, NULL, out_root));
    while (cursor->at->kind != TOKEN_END) {
        TAPML_TRY(read_statement(cursor, &(*out_root)->body, *out_root));
    }
    return TAPML_OK;
}
