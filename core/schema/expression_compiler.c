// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/expression_compiler.h"

#include "base/arena.h"
#include "base/assert.h"
#include "schema/expression_form.h"

#include <string.h>

enum {
    DEPTH_MAX = 16,      // Of parentheses.
    CONDITIONS_MAX = 16, // Of a shape.
    STEPS_MAX = 256      // Of a sum.
};

struct expression_compiler {
    struct span rest;
    struct expression_names *names;
    struct arena *arena;
    struct expression *made;
    unsigned depth;  // Of parentheses.
    unsigned held;   // Values on the stack.
    int is_negative; // A minus was taken off.
    struct expression_step steps[STEPS_MAX];
    uint32_t step_count;
    struct node nodes[2 * CONDITIONS_MAX + 1];
};

static int is_name_begin(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct span *span)
{
    while (span->at < span->end && *span->at == ' ') {
        span->at++;
    }
}

// The name at the front, taken off; empty where there is none.
static struct span take_name(struct span *rest)
{
    struct span name = {rest->at, rest->at};

    if (rest->at < rest->end && is_name_begin(*rest->at)) {
        while (name.end < rest->end && (is_name_begin(*name.end) || is_digit(*name.end))) {
            name.end++;
        }
    }
    rest->at = name.end;
    return name;
}

static int is_name(struct span item)
{
    const struct span name = take_name(&item);

    return name.end > name.at && item.at == item.end;
}

static uint32_t find_name(const struct expression_names *names, struct span name)
{
    const size_t length = (size_t)(name.end - name.at);

    for (uint32_t i = 0; i < names->count; i++) {
        if (strncmp(names->names[i], name.at, length) == 0 && names->names[i][length] == '\0') {
            return i;
        }
    }
    return EXPRESSION_NONE;
}

// The symbol of a name, which is new or not.
static tapml_status
take_symbol(struct expression_compiler *compiler, struct span name, uint32_t *out_symbol)
{
    struct expression_names *names = compiler->names;
    const size_t length = (size_t)(name.end - name.at);
    uint32_t symbol = EXPRESSION_NONE;

    if (length == 0 || length >= EXPRESSION_NAME_BYTES) {
        return status_fail(TAPML_INVALID, "symbol '%.*s' has no name of 1 to %d letters",
                           expression_form_length(name), name.at, EXPRESSION_NAME_BYTES - 1);
    }
    symbol = find_name(names, name);
    if (symbol == EXPRESSION_NONE) {
        if (names->count == EXPRESSION_SYMBOLS_MAX) {
            return status_fail(TAPML_INVALID, "more than %d symbols", EXPRESSION_SYMBOLS_MAX);
        }
        symbol = names->count++;
        memcpy(names->names[symbol], name.at, length);
        names->names[symbol][length] = '\0';
    }
    compiler->made->uses |= UINT32_C(1) << symbol;
    *out_symbol = symbol;
    return TAPML_OK;
}

// Appends a step that leaves `grows` values more, or less.
static tapml_status
add_step(struct expression_compiler *compiler, struct expression_step step, int grows)
{
    if (compiler->step_count == STEPS_MAX) {
        return status_fail(TAPML_INVALID, "a sum of more than %d parts", STEPS_MAX);
    }
    compiler->steps[compiler->step_count++] = step;
    compiler->held = (unsigned)((int)compiler->held + grows);
    ASSERT(compiler->held >= 1 && compiler->held <= EXPRESSION_FORM_STACK);
    return TAPML_OK;
}

static tapml_status compile_number(struct expression_compiler *compiler)
{
    struct span *rest = &compiler->rest;
    int64_t value = 0;

    while (rest->at < rest->end && is_digit(*rest->at)) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *rest->at - '0', &value)) {
            return status_fail(TAPML_INVALID, "a number does not fit in 64 bits");
        }
        rest->at++;
    }
    return add_step(compiler, (struct expression_step){.kind = STEP_NUMBER, .number = value}, 1);
}

// Recursive through parentheses only, at most DEPTH_MAX deep.
static tapml_status compile_terms(struct expression_compiler *compiler);

static tapml_status compile_parentheses(struct expression_compiler *compiler)
{
    if (++compiler->depth > DEPTH_MAX) {
        return status_fail(TAPML_INVALID, "more than %d parentheses in one another", DEPTH_MAX);
    }
    compiler->rest.at++;
    compiler->is_negative = 0;
    TAPML_TRY(compile_terms(compiler));
    if (compiler->rest.at == compiler->rest.end || *compiler->rest.at != ')') {
        return status_fail(TAPML_INVALID, "')' expected");
    }
    compiler->rest.at++;
    compiler->depth--;
    return TAPML_OK;
}

static tapml_status compile_atom(struct expression_compiler *compiler);

// One minus before an atom.
static tapml_status compile_negative(struct expression_compiler *compiler)
{
    compiler->rest.at++;
    compiler->is_negative = 1;
    TAPML_TRY(compile_atom(compiler));
    compiler->is_negative = 0;
    TAPML_TRY(add_step(compiler, (struct expression_step){.kind = STEP_NUMBER, .number = -1}, 1));
    return add_step(compiler, (struct expression_step){.kind = STEP_MULTIPLY}, -1);
}

static tapml_status compile_atom(struct expression_compiler *compiler)
{
    struct span *rest = &compiler->rest;

    skip_blanks(rest);
    if (rest->at < rest->end && is_name_begin(*rest->at)) {
        struct expression_step step = {.kind = STEP_SYMBOL};

        TAPML_TRY(take_symbol(compiler, take_name(rest), &step.symbol));
        return add_step(compiler, step, 1);
    }
    if (rest->at < rest->end && is_digit(*rest->at)) {
        return compile_number(compiler);
    }
    if (rest->at < rest->end && *rest->at == '(') {
        return compile_parentheses(compiler);
    }
    if (rest->at < rest->end && *rest->at == '-' && !compiler->is_negative) {
        return compile_negative(compiler);
    }
    return status_fail(TAPML_INVALID, "a number, a name or '(' expected, found '%.*s'",
                       expression_form_length(*rest), rest->at);
}

// The operator at the front if it is one of two, taken off; else 0.
static char take_operator(struct span *rest, char one, char other)
{
    skip_blanks(rest);
    if (rest->at < rest->end && (*rest->at == one || *rest->at == other)) {
        return *rest->at++;
    }
    return 0;
}

static tapml_status compile_product(struct expression_compiler *compiler)
{
    TAPML_TRY(compile_atom(compiler));
    for (char op = take_operator(&compiler->rest, '*', '/'); op != 0;
         op = take_operator(&compiler->rest, '*', '/')) {
        TAPML_TRY(compile_atom(compiler));
        TAPML_TRY(add_step(
            compiler, (struct expression_step){.kind = op == '*' ? STEP_MULTIPLY : STEP_DIVIDE},
            -1));
    }
    return TAPML_OK;
}

static tapml_status compile_terms(struct expression_compiler *compiler)
{
    TAPML_TRY(compile_product(compiler));
    for (char op = take_operator(&compiler->rest, '+', '-'); op != 0;
         op = take_operator(&compiler->rest, '+', '-')) {
        TAPML_TRY(compile_product(compiler));
        TAPML_TRY(add_step(
            compiler, (struct expression_step){.kind = op == '+' ? STEP_ADD : STEP_SUBTRACT}, -1));
    }
    return TAPML_OK;
}

// The whole of `text` as one sum.
static tapml_status
compile_sum(struct expression_compiler *compiler, struct span text, struct sum *out_sum)
{
    compiler->rest = text;
    compiler->depth = 0;
    compiler->held = 0;
    compiler->is_negative = 0;
    compiler->step_count = 0;
    TAPML_TRY(compile_terms(compiler));
    if (compiler->rest.at != compiler->rest.end) {
        return status_fail(TAPML_INVALID, "'%.*s' follows a sum",
                           expression_form_length(compiler->rest), compiler->rest.at);
    }
    ASSERT(compiler->held == 1);

    struct expression_step *steps =
        arena_array(compiler->arena, compiler->step_count, sizeof(*steps));

    if (steps == NULL) {
        return status_no_memory();
    }
    memcpy(steps, compiler->steps, compiler->step_count * sizeof(*steps));
    *out_sum = (struct sum){.steps = steps,
                            .count = compiler->step_count,
                            .text = text,
                            .alone = is_name(text) ? steps[0].symbol : EXPRESSION_NONE};
    return TAPML_OK;
}

// The next item of a list, taken off with its comma. `rest->at` is NULL behind the last.
static struct span take_item(struct span *rest)
{
    const char *comma = memchr(rest->at, ',', (size_t)(rest->end - rest->at));
    const struct span item = {rest->at, comma != NULL ? comma : rest->end};

    rest->at = comma != NULL ? comma + 1 : NULL;
    return expression_form_trim(item);
}

static uint32_t count_items(struct span list)
{
    uint32_t count = 0;

    while (list.at != NULL) {
        take_item(&list);
        count++;
    }
    return count;
}

static tapml_status
compile_items(struct expression_compiler *compiler, struct span rest, struct items *out_items)
{
    int has_rows = 0;

    rest = expression_form_trim(rest);
    *out_items = (struct items){.text = rest};

    struct sum *sums = arena_array(compiler->arena, count_items(rest), sizeof(*sums));

    if (sums == NULL) {
        return status_no_memory();
    }
    out_items->sums = sums;
    while (rest.at != NULL) {
        struct span item = take_item(&rest);
        const int is_rows = item.at < item.end && *item.at == '*';

        if (is_rows) {
            item.at++;
            if (has_rows || !is_name(item)) {
                return status_fail(TAPML_INVALID, "'*' stands once in a shape, before a name");
            }
            has_rows = 1;
        }
        TAPML_TRY(compile_sum(compiler, item, &sums[out_items->count]));
        sums[out_items->count++].is_rows = is_rows;
    }
    return TAPML_OK;
}

// Where `name ? A : B` splits: the ':' that belongs to the '?' at `question`.
static const char *matching_colon(const char *question, const char *end)
{
    unsigned open = 0;

    for (const char *at = question; at < end; at++) {
        if (*at == '?') {
            open++;
        } else if (*at == ':' && --open == 0) {
            return at;
        }
    }
    return NULL;
}

// Splits one node, or makes it a leaf. New nodes stand behind the others, with their texts in
// `items.text`.
static tapml_status
compile_node(struct expression_compiler *compiler, uint32_t *count, uint32_t index)
{
    struct node *node = &compiler->nodes[index];
    const struct span text = node->items.text;
    const char *question = memchr(text.at, '?', (size_t)(text.end - text.at));

    node->condition = EXPRESSION_NONE;
    if (question == NULL) {
        return memchr(text.at, ':', (size_t)(text.end - text.at)) == NULL
                   ? compile_items(compiler, text, &node->items)
                   : status_fail(TAPML_INVALID, "':' without '?'");
    }

    const struct span condition = expression_form_trim((struct span){text.at, question});
    const char *colon = matching_colon(question, text.end);

    if (!is_name(condition)) {
        return status_fail(TAPML_INVALID, "a name is expected before '?'");
    }
    if (colon == NULL) {
        return status_fail(TAPML_INVALID, "'?' without ':'");
    }
    if (*count + 2 > sizeof(compiler->nodes) / sizeof(*compiler->nodes)) {
        return status_fail(TAPML_INVALID, "more than %d conditions", CONDITIONS_MAX);
    }
    TAPML_TRY(take_symbol(compiler, condition, &node->condition));
    node->yes = (*count)++;
    node->no = (*count)++;
    compiler->nodes[node->yes] = (struct node){.items.text = {question + 1, colon}};
    compiler->nodes[node->no] = (struct node){.items.text = {colon + 1, text.end}};
    return TAPML_OK;
}

static tapml_status compile_shape(struct expression_compiler *compiler, struct span text)
{
    uint32_t count = 1;

    compiler->nodes[0] = (struct node){.items.text = text};
    for (uint32_t i = 0; i < count; i++) {
        TAPML_TRY(compile_node(compiler, &count, i));
    }

    struct node *nodes = arena_array(compiler->arena, count, sizeof(*nodes));

    if (nodes == NULL) {
        return status_no_memory();
    }
    memcpy(nodes, compiler->nodes, count * sizeof(*nodes));
    compiler->made->nodes = nodes;
    compiler->made->node_count = count;
    return TAPML_OK;
}

static tapml_status compile_text(struct expression_compiler *compiler, const char *text)
{
    struct expression *made = compiler->made;
    const char *dots = strstr(text, "..");
    const struct span all = {text, text + strlen(text)};

    if (dots == NULL) {
        return compile_shape(compiler, all);
    }
    made->is_range = 1;
    TAPML_TRY(
        compile_sum(compiler, expression_form_trim((struct span){all.at, dots}), &made->begin));
    return compile_sum(compiler, expression_form_trim((struct span){dots + 2, all.end}),
                       &made->end);
}

tapml_status expression_compiler_run(const char *text,
                                     struct expression_names *names,
                                     struct arena *arena,
                                     const struct expression **out_expression)
{
    struct expression_compiler compiler;

    compiler.names = names;
    compiler.arena = arena;
    compiler.made = arena_new(arena, sizeof(*compiler.made));
    if (compiler.made == NULL) {
        return status_no_memory();
    }
    *compiler.made = (struct expression){0};

    const tapml_status status = compile_text(&compiler, text);

    if (status != TAPML_OK) {
        return status_explain(status, "in '%s'", text);
    }
    *out_expression = compiler.made;
    return TAPML_OK;
}
