// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/expression.h"

#include <string.h>

enum { DEPTH_MAX = 16 }; // Of parentheses.

// A piece of a schema's text.
struct span {
    const char *at;
    const char *end;
};

struct parser {
    struct span rest;
    const struct expression_scope *scope; // NULL: the form alone is checked.
    const struct affine_point *point;     // NULL: symbols stay symbols.
    unsigned depth;
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

static struct span span_of(const char *text)
{
    return (struct span){text, text + strlen(text)};
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

static const struct expression_symbol *symbol_find(const struct expression_scope *scope,
                                                   struct span name)
{
    const size_t length = (size_t)(name.end - name.at);

    for (uint32_t i = 0; i < scope->count; i++) {
        const char *known = scope->symbols[i].name;

        if (strncmp(known, name.at, length) == 0 && known[length] == '\0') {
            return &scope->symbols[i];
        }
    }
    return NULL;
}

static tapml_status
symbol_new(struct expression_scope *scope, struct span name, struct expression_symbol **out_symbol)
{
    const size_t length = (size_t)(name.end - name.at);

    if (length == 0 || length >= sizeof(scope->symbols[0].name)) {
        return status_fail(TAPML_INVALID, "symbol '%.*s' has no name of 1 to %zu letters",
                           span_length(name), name.at, sizeof(scope->symbols[0].name) - 1);
    }
    if (scope->count == EXPRESSION_SYMBOLS_MAX) {
        return status_fail(TAPML_INVALID, "more than %d symbols", EXPRESSION_SYMBOLS_MAX);
    }

    struct expression_symbol *symbol = &scope->symbols[scope->count++];

    memcpy(symbol->name, name.at, length);
    symbol->name[length] = '\0';
    symbol->is_known = 1;
    symbol->axis_count = 0;
    *out_symbol = symbol;
    return TAPML_OK;
}

// The value of a symbol at a point; of `*rows` also where the product is not affine.
static tapml_status symbol_at(const struct expression_symbol *symbol,
                              const struct affine_point *point,
                              int64_t *out_value)
{
    int64_t product = 1;

    if (symbol->is_known) {
        *out_value = affine_at(&symbol->value, point);
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < symbol->axis_count; i++) {
        if (__builtin_mul_overflow(product, affine_at(&symbol->axes[i], point), &product)) {
            return status_fail(TAPML_INVALID, "'%s' does not fit in 64 bits", symbol->name);
        }
    }
    *out_value = product;
    return TAPML_OK;
}

static tapml_status
parse_symbol(const struct parser *parser, struct span name, struct affine *out_value)
{
    if (parser->scope == NULL) {
        *out_value = affine_constant(1);
        return TAPML_OK;
    }

    const struct expression_symbol *symbol = symbol_find(parser->scope, name);

    if (symbol == NULL) {
        return status_fail(TAPML_INVALID, "'%.*s' has no value", span_length(name), name.at);
    }
    if (parser->point != NULL) {
        int64_t value = 0;

        TAPML_TRY(symbol_at(symbol, parser->point, &value));
        *out_value = affine_constant(value);
        return TAPML_OK;
    }
    if (!symbol->is_known) {
        return status_fail(TAPML_INVALID, "'%s', a product of axes, is not affine", symbol->name);
    }
    *out_value = symbol->value;
    return TAPML_OK;
}

static tapml_status parse_number(struct span *rest, struct affine *out_value)
{
    int64_t value = 0;

    while (rest->at < rest->end && is_digit(*rest->at)) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *rest->at - '0', &value)) {
            return status_fail(TAPML_INVALID, "a number does not fit in 64 bits");
        }
        rest->at++;
    }
    *out_value = affine_constant(value);
    return TAPML_OK;
}

// Recursive through parentheses only, at most DEPTH_MAX deep.
static tapml_status parse_sum(struct parser *parser, struct affine *out_value);

static tapml_status parse_parentheses(struct parser *parser, struct affine *out_value)
{
    if (++parser->depth > DEPTH_MAX) {
        return status_fail(TAPML_INVALID, "more than %d parentheses in one another", DEPTH_MAX);
    }
    parser->rest.at++;
    TAPML_TRY(parse_sum(parser, out_value));
    if (parser->rest.at == parser->rest.end || *parser->rest.at != ')') {
        return status_fail(TAPML_INVALID, "')' expected");
    }
    parser->rest.at++;
    parser->depth--;
    return TAPML_OK;
}

static tapml_status parse_atom(struct parser *parser, struct affine *out_value)
{
    struct span *rest = &parser->rest;

    skip_blanks(rest);
    if (rest->at < rest->end && is_name_begin(*rest->at)) {
        return parse_symbol(parser, take_name(rest), out_value);
    }
    if (rest->at < rest->end && is_digit(*rest->at)) {
        return parse_number(rest, out_value);
    }
    if (rest->at < rest->end && *rest->at == '(') {
        return parse_parentheses(parser, out_value);
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

static tapml_status parse_product(struct parser *parser, struct affine *out_value)
{
    struct affine value;

    TAPML_TRY(parse_atom(parser, &value));
    for (char op = take_operator(&parser->rest, '*', '/'); op != 0;
         op = take_operator(&parser->rest, '*', '/')) {
        struct affine right;

        TAPML_TRY(parse_atom(parser, &right));
        if (parser->scope == NULL) {
            continue; // Without values there is nothing to compute.
        }
        TAPML_TRY(op == '*' ? affine_multiply(&value, &right, &value)
                            : affine_divide(&value, &right, &value));
    }
    *out_value = value;
    return TAPML_OK;
}

static tapml_status parse_sum(struct parser *parser, struct affine *out_value)
{
    struct affine value;

    TAPML_TRY(parse_product(parser, &value));
    for (char op = take_operator(&parser->rest, '+', '-'); op != 0;
         op = take_operator(&parser->rest, '+', '-')) {
        struct affine right;

        TAPML_TRY(parse_product(parser, &right));
        if (parser->scope == NULL) {
            continue;
        }
        TAPML_TRY(op == '+' ? affine_add(&value, &right, &value)
                            : affine_subtract(&value, &right, &value));
    }
    *out_value = value;
    return TAPML_OK;
}

// The whole of `text` as one sum. `scope` and `point` as in struct parser.
static tapml_status sum_value(const struct expression_scope *scope,
                              struct span text,
                              const struct affine_point *point,
                              struct affine *out_value)
{
    struct parser parser = {.rest = text, .scope = scope, .point = point};

    TAPML_TRY(parse_sum(&parser, out_value));
    if (parser.rest.at != parser.rest.end) {
        return status_fail(TAPML_INVALID, "'%.*s' follows a sum", span_length(parser.rest),
                           parser.rest.at);
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

// Follows the conditions at the front of a shape to the list of items that counts. Every round
// shortens the text.
static tapml_status
select_items(const struct expression_scope *scope, const char *text, struct span *out_items)
{
    struct span items = span_of(text);

    for (;;) {
        const char *question = memchr(items.at, '?', (size_t)(items.end - items.at));

        if (question == NULL) {
            *out_items = trimmed(items);
            return TAPML_OK;
        }

        const char *colon = matching_colon(question, items.end);
        struct affine condition;

        TAPML_TRY(sum_value(scope, (struct span){items.at, question}, NULL, &condition));
        if (colon == NULL) {
            return status_fail(TAPML_INVALID, "'?' without ':' in '%s'", text);
        }
        if (!affine_is_constant(&condition)) {
            return status_fail(TAPML_INVALID, "the condition in '%s' must be a plain number", text);
        }
        items = condition.constant != 0 ? (struct span){question + 1, colon}
                                        : (struct span){colon + 1, items.end};
    }
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

static int is_name(struct span item)
{
    const struct span name = take_name(&item);

    return name.end > name.at && item.at == item.end;
}

static int is_rows(struct span item)
{
    return item.at < item.end && *item.at == '*';
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

static tapml_status match_rows(struct expression_scope *scope,
                               struct span name,
                               const struct affine *axes,
                               uint32_t count)
{
    const struct expression_symbol *known = symbol_find(scope, name);

    if (known != NULL) {
        if (known->axis_count != count) {
            return status_fail(TAPML_INVALID, "%u leading axes, '*%.*s' has %u", count,
                               span_length(name), name.at, known->axis_count);
        }
        for (uint32_t i = 0; i < count; i++) {
            if (!affine_equal(&axes[i], &known->axes[i])) {
                return differs(i, &axes[i], name, &known->axes[i]);
            }
        }
        return TAPML_OK;
    }

    struct expression_symbol *symbol = NULL;

    TAPML_TRY(symbol_new(scope, name, &symbol));
    symbol->value = affine_constant(1);
    symbol->axis_count = count;
    for (uint32_t i = 0; i < count; i++) {
        symbol->axes[i] = axes[i];
        symbol->is_known = symbol->is_known &&
                           affine_multiply(&symbol->value, &axes[i], &symbol->value) == TAPML_OK;
    }
    return TAPML_OK;
}

static tapml_status match_axis(struct expression_scope *scope,
                               struct span item,
                               const struct affine *extent,
                               uint32_t axis)
{
    if (is_name(item) && symbol_find(scope, item) == NULL) {
        struct expression_symbol *symbol = NULL;

        TAPML_TRY(symbol_new(scope, item, &symbol));
        symbol->value = *extent;
        return TAPML_OK;
    }

    struct affine expected;

    TAPML_TRY(sum_value(scope, item, NULL, &expected));
    return affine_equal(&expected, extent) ? TAPML_OK : differs(axis, extent, item, &expected);
}

void expression_scope_init(struct expression_scope *scope)
{
    scope->count = 0;
}

tapml_status
expression_define(struct expression_scope *scope, const char *name, const struct affine *value)
{
    const struct span span = span_of(name);
    struct expression_symbol *symbol = NULL;

    if (symbol_find(scope, span) != NULL) {
        return status_fail(TAPML_INVALID, "'%s' has a value already", name);
    }
    TAPML_TRY(symbol_new(scope, span, &symbol));
    symbol->value = *value;
    return TAPML_OK;
}

tapml_status expression_match(struct expression_scope *scope,
                              const char *text,
                              const struct affine *shape,
                              uint32_t rank)
{
    struct span items;
    uint32_t axis = 0;

    TAPML_TRY(select_items(scope, text, &items));
    for (struct span rest = items; rest.at != NULL;) {
        struct span item = take_item(&rest);
        const uint32_t behind = rest.at != NULL ? count_items(rest) : 0;

        if (is_rows(item)) {
            item.at++;
            if (axis + behind > rank) {
                return wrong_rank(items, rank);
            }
            TAPML_TRY(match_rows(scope, item, shape + axis, rank - axis - behind));
            axis = rank - behind;
            continue;
        }
        if (axis + behind >= rank) {
            return wrong_rank(items, rank);
        }
        TAPML_TRY(match_axis(scope, item, &shape[axis], axis));
        axis++;
    }
    return axis == rank ? TAPML_OK : wrong_rank(items, rank);
}

// Appends the axes of `*rows`.
static tapml_status shape_rows(const struct expression_scope *scope,
                               struct span name,
                               struct affine *shape,
                               uint32_t *rank)
{
    const struct expression_symbol *symbol = symbol_find(scope, name);

    if (symbol == NULL) {
        return status_fail(TAPML_INVALID, "'*%.*s' has no value", span_length(name), name.at);
    }
    if (*rank + symbol->axis_count > TAPML_MAX_RANK) {
        return status_fail(TAPML_INVALID, "more than %u axes", TAPML_MAX_RANK);
    }
    memcpy(shape + *rank, symbol->axes, symbol->axis_count * sizeof(*shape));
    *rank += symbol->axis_count;
    return TAPML_OK;
}

tapml_status expression_shape(const struct expression_scope *scope,
                              const char *text,
                              struct affine *out_shape,
                              uint32_t *out_rank)
{
    struct span rest;
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    TAPML_TRY(select_items(scope, text, &rest));
    while (rest.at != NULL) {
        struct span item = take_item(&rest);

        if (is_rows(item)) {
            item.at++;
            TAPML_TRY(shape_rows(scope, item, shape, &rank));
            continue;
        }
        if (rank == TAPML_MAX_RANK) {
            return status_fail(TAPML_INVALID, "more than %u axes in '%s'", TAPML_MAX_RANK, text);
        }
        TAPML_TRY(sum_value(scope, item, NULL, &shape[rank]));
        rank++;
    }
    memcpy(out_shape, shape, rank * sizeof(*shape));
    *out_rank = rank;
    return TAPML_OK;
}

tapml_status expression_value(const struct expression_scope *scope,
                              const char *text,
                              const struct affine_point *point,
                              int64_t *out_value)
{
    struct affine value;

    TAPML_TRY(sum_value(scope, span_of(text), point, &value));
    *out_value = value.constant;
    return TAPML_OK;
}

// Splits "A .. B".
static tapml_status range_split(const char *text, struct span *out_begin, struct span *out_end)
{
    const struct span all = span_of(text);
    const char *dots = strstr(text, "..");

    if (dots == NULL) {
        return status_fail(TAPML_INVALID, "'A .. B' expected, found '%s'", text);
    }
    *out_begin = trimmed((struct span){all.at, dots});
    *out_end = trimmed((struct span){dots + 2, all.end});
    return TAPML_OK;
}

tapml_status expression_range(const struct expression_scope *scope,
                              const char *text,
                              const struct affine_point *point,
                              int64_t *out_begin,
                              int64_t *out_end)
{
    struct span begin_text;
    struct span end_text;
    struct affine begin;
    struct affine end;

    TAPML_TRY(range_split(text, &begin_text, &end_text));
    TAPML_TRY(sum_value(scope, begin_text, point, &begin));
    TAPML_TRY(sum_value(scope, end_text, point, &end));
    *out_begin = begin.constant;
    *out_end = end.constant;
    return TAPML_OK;
}

static tapml_status check_items(struct span rest)
{
    int has_rows = 0;

    rest = trimmed(rest);
    while (rest.at != NULL) {
        struct span item = take_item(&rest);
        struct affine ignored;

        if (is_rows(item)) {
            item.at++;
            if (has_rows || !is_name(item)) {
                return status_fail(TAPML_INVALID, "'*' stands once in a shape, before a name");
            }
            has_rows = 1;
            continue;
        }
        TAPML_TRY(sum_value(NULL, item, NULL, &ignored));
    }
    return TAPML_OK;
}

// Conditions read from left to right: each '?' asks for one shape more, each ':' ends one.
static tapml_status check_shape(const char *text)
{
    const struct span all = span_of(text);
    struct span piece = {all.at, all.at};
    unsigned needed = 1;

    for (; piece.end < all.end; piece.end++) {
        const char mark = *piece.end;

        if (mark == '?') {
            needed++;
            if (!is_name(trimmed(piece))) {
                return status_fail(TAPML_INVALID, "a name is expected before '?'");
            }
        } else if (mark == ':') {
            if (--needed == 0) {
                return status_fail(TAPML_INVALID, "':' without '?'");
            }
            TAPML_TRY(check_items(piece));
        } else {
            continue;
        }
        piece.at = piece.end + 1;
    }
    if (needed != 1) {
        return status_fail(TAPML_INVALID, "'?' without ':'");
    }
    return check_items(piece);
}

tapml_status expression_check(const char *text)
{
    struct span begin;
    struct span end;
    struct affine ignored;
    tapml_status status = TAPML_OK;

    if (strstr(text, "..") == NULL) {
        status = check_shape(text);
    } else {
        TAPML_TRY(range_split(text, &begin, &end));
        status = sum_value(NULL, begin, NULL, &ignored);
        status = status != TAPML_OK ? status : sum_value(NULL, end, NULL, &ignored);
    }
    return status != TAPML_OK ? status_explain(status, "in '%s'", text) : TAPML_OK;
}
