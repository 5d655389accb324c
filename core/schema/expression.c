// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/expression.h"

#include "base/arena.h"
#include "base/assert.h"

#include <string.h>

enum {
    DEPTH_MAX = 16,      // Of parentheses.
    CONDITIONS_MAX = 16, // Of a shape.
    STACK_MAX = 40, // Values at once: two for each parenthesis, and those of the outermost sum.
    STEPS_MAX = 256 // Of a sum.
};

// A piece of a schema's text.
struct span {
    const char *at;
    const char *end;
};

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

// -- Compiling ---------------------------------------------------------------------------------

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

static struct span trimmed(struct span span)
{
    skip_blanks(&span);
    while (span.end > span.at && span.end[-1] == ' ') {
        span.end--;
    }
    return span;
}

static int span_length(struct span span)
{
    return (int)(span.end - span.at);
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
                           span_length(name), name.at, EXPRESSION_NAME_BYTES - 1);
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
    ASSERT(compiler->held >= 1 && compiler->held <= STACK_MAX);
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
                       span_length(*rest), rest->at);
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
        return status_fail(TAPML_INVALID, "'%.*s' follows a sum", span_length(compiler->rest),
                           compiler->rest.at);
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
    return trimmed(item);
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

    rest = trimmed(rest);
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

    const struct span condition = trimmed((struct span){text.at, question});
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
    TAPML_TRY(compile_sum(compiler, trimmed((struct span){all.at, dots}), &made->begin));
    return compile_sum(compiler, trimmed((struct span){dots + 2, all.end}), &made->end);
}

tapml_status expression_compile(const char *text,
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

// -- Questions ---------------------------------------------------------------------------------

uint32_t expression_find(const struct expression_names *names, const char *name)
{
    return find_name(names, (struct span){name, name + strlen(name)});
}

int expression_is_range(const struct expression *expression)
{
    return expression->is_range;
}

int expression_has(const struct expression *expression, uint32_t symbol)
{
    return (expression->uses >> symbol & 1) != 0;
}

int expression_has_rows(const struct expression *expression, uint32_t symbol)
{
    for (uint32_t n = 0; n < expression->node_count; n++) {
        const struct items *items = &expression->nodes[n].items;

        for (uint32_t i = 0; i < items->count; i++) {
            if (items->sums[i].is_rows && items->sums[i].alone == symbol) {
                return 1;
            }
        }
    }
    return 0;
}

int expression_begins_with(const struct expression *expression, uint32_t symbol)
{
    const struct node *first = expression->nodes;

    return first != NULL && first->items.count > 0 && !first->items.sums[0].is_rows &&
           first->items.sums[0].alone == symbol;
}

// -- Values ------------------------------------------------------------------------------------

void expression_scope_init(struct expression_scope *scope, const struct expression_names *names)
{
    scope->names = names;
    for (uint32_t i = 0; i < names->count; i++) {
        scope->symbols[i].is_bound = 0;
    }
}

static void bind(struct expression_symbol *symbol, const struct affine *value)
{
    symbol->is_bound = 1;
    symbol->is_known = 1;
    symbol->axis_count = 0;
    symbol->value = *value;
}

void expression_define(struct expression_scope *scope, uint32_t symbol, const struct affine *value)
{
    ASSERT(symbol < scope->names->count && !scope->symbols[symbol].is_bound);
    bind(&scope->symbols[symbol], value);
}

static tapml_status
symbol_value(const struct expression_scope *scope, uint32_t index, struct affine *out_value)
{
    const struct expression_symbol *symbol = &scope->symbols[index];

    if (!symbol->is_bound) {
        return status_fail(TAPML_INVALID, "'%s' has no value", scope->names->names[index]);
    }
    if (!symbol->is_known) {
        return status_fail(TAPML_INVALID, "'%s', a product of axes, is not affine",
                           scope->names->names[index]);
    }
    *out_value = symbol->value;
    return TAPML_OK;
}

// Replaces the two values on top by what an operator makes of them.
static tapml_status
combine(enum expression_step_kind kind, struct affine *left, const struct affine *right)
{
    switch (kind) {
    case STEP_ADD:
        return affine_add(left, right, left);
    case STEP_SUBTRACT:
        return affine_subtract(left, right, left);
    case STEP_MULTIPLY:
        return affine_multiply(left, right, left);
    case STEP_DIVIDE:
        return affine_divide(left, right, left);
    case STEP_NUMBER:
    case STEP_SYMBOL:
        break;
    }
    ASSERT(0); // Not an operator.
    return TAPML_INTERNAL;
}

static tapml_status
sum_value(const struct expression_scope *scope, const struct sum *sum, struct affine *out_value)
{
    struct affine stack[STACK_MAX];
    uint32_t count = 0;

    if (sum->alone != EXPRESSION_NONE) {
        return symbol_value(scope, sum->alone, out_value);
    }
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct expression_step *step = &sum->steps[i];

        if (step->kind == STEP_NUMBER) {
            stack[count++] = affine_constant(step->number);
        } else if (step->kind == STEP_SYMBOL) {
            TAPML_TRY(symbol_value(scope, step->symbol, &stack[count]));
            count++;
        } else {
            count--;
            TAPML_TRY(combine(step->kind, &stack[count - 1], &stack[count]));
        }
    }
    *out_value = stack[0];
    return TAPML_OK;
}

// Follows the conditions at the front of a shape to the list of items that counts.
static tapml_status select_items(const struct expression_scope *scope,
                                 const struct expression *expression,
                                 const struct items **out_items)
{
    const struct node *node = expression->nodes;

    ASSERT(!expression->is_range);
    while (node->condition != EXPRESSION_NONE) {
        struct affine condition;

        TAPML_TRY(symbol_value(scope, node->condition, &condition));
        if (!affine_is_constant(&condition)) {
            return status_fail(TAPML_INVALID, "the condition '%s' must be a plain number",
                               scope->names->names[node->condition]);
        }
        node = &expression->nodes[condition.constant != 0 ? node->yes : node->no];
    }
    *out_items = &node->items;
    return TAPML_OK;
}

static tapml_status
differs(uint32_t axis, const struct affine *found, struct span item, const struct affine *expected)
{
    char found_text[80];
    char expected_text[80];

    affine_text(found, found_text, sizeof(found_text));
    affine_text(expected, expected_text, sizeof(expected_text));
    return status_fail(TAPML_INVALID, "axis %u is %s, '%.*s' is %s", axis, found_text,
                       span_length(item), item.at, expected_text);
}

static tapml_status wrong_rank(struct span items, uint32_t rank)
{
    return status_fail(TAPML_INVALID, "rank is %u, expected [%.*s]", rank, span_length(items),
                       items.at);
}

static tapml_status match_rows(struct expression_symbol *symbol,
                               struct span name,
                               const struct affine *axes,
                               uint32_t count)
{
    if (symbol->is_bound) {
        if (symbol->axis_count != count) {
            return status_fail(TAPML_INVALID, "%u leading axes, '*%.*s' has %u", count,
                               span_length(name), name.at, symbol->axis_count);
        }
        for (uint32_t i = 0; i < count; i++) {
            if (!affine_equal(&axes[i], &symbol->axes[i])) {
                return differs(i, &axes[i], name, &symbol->axes[i]);
            }
        }
        return TAPML_OK;
    }

    const struct affine one = affine_constant(1);

    bind(symbol, &one);
    symbol->axis_count = count;
    for (uint32_t i = 0; i < count; i++) {
        symbol->axes[i] = axes[i];
        symbol->is_known = symbol->is_known &&
                           affine_multiply(&symbol->value, &axes[i], &symbol->value) == TAPML_OK;
    }
    return TAPML_OK;
}

static tapml_status match_axis(struct expression_scope *scope,
                               const struct sum *item,
                               const struct affine *extent,
                               uint32_t axis)
{
    if (item->alone != EXPRESSION_NONE && !scope->symbols[item->alone].is_bound) {
        bind(&scope->symbols[item->alone], extent);
        return TAPML_OK;
    }

    struct affine expected;

    TAPML_TRY(sum_value(scope, item, &expected));
    return affine_equal(&expected, extent) ? TAPML_OK
                                           : differs(axis, extent, item->text, &expected);
}

tapml_status expression_match(struct expression_scope *scope,
                              const struct expression *expression,
                              const struct affine *shape,
                              uint32_t rank)
{
    const struct items *items = NULL;
    uint32_t axis = 0;

    TAPML_TRY(select_items(scope, expression, &items));
    for (uint32_t i = 0; i < items->count; i++) {
        const struct sum *item = &items->sums[i];
        const uint32_t behind = items->count - 1 - i;

        if (axis + behind + !item->is_rows > rank) {
            return wrong_rank(items->text, rank);
        }
        if (item->is_rows) {
            TAPML_TRY(match_rows(&scope->symbols[item->alone], item->text, shape + axis,
                                 rank - axis - behind));
            axis = rank - behind;
        } else {
            TAPML_TRY(match_axis(scope, item, &shape[axis], axis));
            axis++;
        }
    }
    return axis == rank ? TAPML_OK : wrong_rank(items->text, rank);
}

// Appends the axes of `*rows`.
static tapml_status shape_rows(const struct expression_scope *scope,
                               uint32_t index,
                               struct affine *shape,
                               uint32_t *rank)
{
    const struct expression_symbol *symbol = &scope->symbols[index];

    if (!symbol->is_bound) {
        return status_fail(TAPML_INVALID, "'*%s' has no value", scope->names->names[index]);
    }
    if (*rank + symbol->axis_count > TAPML_MAX_RANK) {
        return status_fail(TAPML_INVALID, "more than %u axes", TAPML_MAX_RANK);
    }
    memcpy(shape + *rank, symbol->axes, symbol->axis_count * sizeof(*shape));
    *rank += symbol->axis_count;
    return TAPML_OK;
}

tapml_status expression_shape(const struct expression_scope *scope,
                              const struct expression *expression,
                              struct affine *out_shape,
                              uint32_t *out_rank)
{
    const struct items *items = NULL;
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    TAPML_TRY(select_items(scope, expression, &items));
    for (uint32_t i = 0; i < items->count; i++) {
        const struct sum *item = &items->sums[i];

        if (item->is_rows) {
            TAPML_TRY(shape_rows(scope, item->alone, shape, &rank));
            continue;
        }
        if (rank == TAPML_MAX_RANK) {
            return status_fail(TAPML_INVALID, "more than %u axes in '%.*s'", TAPML_MAX_RANK,
                               span_length(items->text), items->text.at);
        }
        TAPML_TRY(sum_value(scope, item, &shape[rank]));
        rank++;
    }
    memcpy(out_shape, shape, rank * sizeof(*shape));
    *out_rank = rank;
    return TAPML_OK;
}

static tapml_status
plain_value(const struct expression_scope *scope, const struct sum *sum, int64_t *out_value)
{
    struct affine value;

    TAPML_TRY(sum_value(scope, sum, &value));
    if (!affine_is_constant(&value)) {
        return status_fail(TAPML_INVALID, "'%.*s' is no plain number", span_length(sum->text),
                           sum->text.at);
    }
    *out_value = value.constant;
    return TAPML_OK;
}

tapml_status expression_value(const struct expression_scope *scope,
                              const struct expression *expression,
                              int64_t *out_value)
{
    const struct items *items = NULL;

    TAPML_TRY(select_items(scope, expression, &items));
    return items->count == 1 && !items->sums[0].is_rows
               ? plain_value(scope, &items->sums[0], out_value)
               : status_fail(TAPML_INVALID, "one sum is expected, found '%.*s'",
                             span_length(items->text), items->text.at);
}

tapml_status expression_range(const struct expression_scope *scope,
                              const struct expression *expression,
                              int64_t *out_begin,
                              int64_t *out_end)
{
    int64_t begin = 0;

    ASSERT(expression->is_range);
    TAPML_TRY(plain_value(scope, &expression->begin, &begin));
    TAPML_TRY(plain_value(scope, &expression->end, out_end));
    *out_begin = begin;
    return TAPML_OK;
}
