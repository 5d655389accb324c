// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "schema/plain_form.h"

#include "base/arena.h"
#include "schema/expression_compiler.h"
#include "schema/expression_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOUND(piece) expression_form_length(piece), (piece).at

// A form while it is read.
struct form_reader {
    const tapml_op *op;
    const struct compiled_op *schema; // Of `op`.
    const struct catalogue *catalogue;
    struct arena *arena;
    struct plain_form *made;
    struct plain_value *values;
    struct plain_call *calls;
    struct plain_call *call; // At hand.
    uint32_t param;          // Of the call at hand.
};

// -- Pieces of text ----------------------------------------------------------------------------

static int is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The first of `c` in a piece that stands in no bracket; NULL if there is none.
static const char *find_outside(struct span piece, char c)
{
    int depth = 0;
    for (const char *at = piece.at; at < piece.end; at++) {
        if (depth == 0 && *at == c) {
            return at;
        }
        depth += *at == '(' || *at == '[' || *at == '{';
        depth -= *at == ')' || *at == ']' || *at == '}';
    }
    return NULL;
}

// Takes what is in front of the next `separator`, trimmed; 0 where nothing is left.
static int next_piece(struct span *rest, char separator, struct span *out_piece)
{
    if (!rest->at) {
        return 0;
    }
    const char *end = find_outside(*rest, separator);
    *out_piece = expression_form_trim((struct span){rest->at, end ? end : rest->end});
    rest->at = end ? end + 1 : NULL;
    return 1;
}

// Whether a piece ends with `close` and has `open` in it; splits it into what is before and within.
static int
split_brackets(struct span piece, char open, char close, struct span *out_head, struct span *out_in)
{
    const char *at = memchr(piece.at, open, (size_t)(piece.end - piece.at));
    if (!at || piece.end == piece.at || piece.end[-1] != close) {
        return 0;
    }
    *out_head = expression_form_trim((struct span){piece.at, at});
    *out_in = expression_form_trim((struct span){at + 1, piece.end - 1});
    return 1;
}

static int is_text(struct span piece, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(piece.end - piece.at) == length && memcmp(piece.at, text, length) == 0;
}

static int is_name(struct span piece)
{
    int has_letter = 0;
    for (const char *at = piece.at; at < piece.end; at++) {
        if (!is_name_letter(*at)) {
            return 0;
        }
        has_letter |= *at < '0' || *at > '9';
    }
    return piece.end > piece.at && has_letter && (*piece.at < '0' || *piece.at > '9');
}

static tapml_status keep(struct form_reader *reader, struct span piece, const char **out_text)
{
    *out_text = arena_format(reader->arena, "%.*s", FOUND(piece));
    return *out_text ? TAPML_OK : status_no_memory();
}

// -- Values ------------------------------------------------------------------------------------

static const tapml_param *param_of(const struct form_reader *reader, uint32_t value)
{
    return value < reader->op->n_params ? reader->op->params[value] : NULL;
}

static uint32_t find_value(const struct form_reader *reader, struct span name)
{
    for (uint32_t i = 0; i < reader->made->value_count; i++) {
        if (is_text(name, reader->values[i].name)) {
            return i;
        }
    }
    return COMPILED_NONE;
}

static tapml_status add_temporary(struct form_reader *reader, struct span name, uint32_t *out_value)
{
    if (!is_name(name) || expression_form_length(name) >= EXPRESSION_NAME_BYTES) {
        return status_fail(TAPML_INVALID, "'%.*s' is no name of 1 to %d letters", FOUND(name),
                           EXPRESSION_NAME_BYTES - 1);
    }
    if (reader->made->value_count == PLAIN_VALUES_MAX) {
        return status_fail(TAPML_INVALID, "more than %d parameters and temporaries",
                           PLAIN_VALUES_MAX);
    }
    *out_value = reader->made->value_count++;
    reader->values[*out_value].writer = COMPILED_NONE;
    TAPML_TRY(keep(reader, name, &reader->values[*out_value].name));
    return expression_find(&reader->made->names, reader->values[*out_value].name) == EXPRESSION_NONE
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "'%.*s' is a symbol of the schema", FOUND(name));
}

static int is_written(const struct form_reader *reader, uint32_t value)
{
    const tapml_param *param = param_of(reader, value);
    return (param && param->kind != TAPML_P_TENSOR_OUT) ||
           reader->values[value].writer != COMPILED_NONE;
}

// What a call writes: an output of the op, or a temporary that is new.
static tapml_status take_output(struct form_reader *reader, struct span name, uint32_t *out_value)
{
    *out_value = find_value(reader, name);
    if (*out_value == COMPILED_NONE) {
        TAPML_TRY(add_temporary(reader, name, out_value));
    } else if (is_written(reader, *out_value)) {
        return status_fail(TAPML_INVALID, "'%.*s' is no output, or was written before",
                           FOUND(name));
    }
    reader->values[*out_value].writer = reader->made->call_count;
    return TAPML_OK;
}

// What is a weight or a state for a call is one for the op, and optional only for both.
static tapml_status check_effects(const struct form_reader *reader, uint32_t value)
{
    const tapml_param *own = reader->call->schema->op->params[reader->param];
    const tapml_param *given = param_of(reader, value);
    const uint32_t kept = TAPML_E_WEIGHT | TAPML_E_STATE_READ | TAPML_E_STATE_WRITE;
    const uint32_t lacks = own->effects & kept & ~(given ? given->effects : 0);
    if (lacks != 0) {
        return status_fail(TAPML_INVALID, "'%s' is not declared as %s", reader->values[value].name,
                           (lacks & TAPML_E_WEIGHT) != 0 ? "a weight" : "a state of that use");
    }
    if (own->kind == TAPML_P_TENSOR_INOUT && (!given || given->kind != TAPML_P_TENSOR_INOUT)) {
        return status_fail(TAPML_INVALID, "'%s' is no in-out parameter",
                           reader->values[value].name);
    }
    if (given && (given->effects & TAPML_E_OPTIONAL) != 0 &&
        (own->effects & TAPML_E_OPTIONAL) == 0) {
        return status_fail(TAPML_INVALID, "'%s' is optional, and the call needs it",
                           reader->values[value].name);
    }
    return TAPML_OK;
}

static tapml_status take_input(struct form_reader *reader, struct span name, uint32_t *out_value)
{
    const uint32_t value = find_value(reader, name);
    if (value == COMPILED_NONE || !is_written(reader, value)) {
        return status_fail(TAPML_INVALID, "'%.*s' has no value there", FOUND(name));
    }
    if (value < reader->op->n_params &&
        (!reader->schema->params[value].is_tensor ||
         reader->schema->params[value].kind == TAPML_P_TENSORS_IN)) {
        return status_fail(TAPML_INVALID, "'%.*s' is no single tensor", FOUND(name));
    }
    TAPML_TRY(check_effects(reader, value));
    *out_value = value;
    return TAPML_OK;
}

// -- Arguments ---------------------------------------------------------------------------------

// Compiles a text over the symbols that the schema has.
static tapml_status
compile(struct form_reader *reader, struct span piece, const struct expression **out_expression)
{
    struct expression_names names = reader->made->names;
    const char *text = NULL;
    TAPML_TRY(keep(reader, piece, &text));
    TAPML_TRY(expression_compiler_run(text, &names, reader->arena, out_expression));
    if (names.count > reader->made->names.count) {
        return status_fail(TAPML_INVALID, "'%s' in '%s' is no symbol of the schema",
                           names.names[reader->made->names.count], text);
    }
    return expression_is_range(*out_expression)
               ? status_fail(TAPML_INVALID, "'%s' is a range", text)
               : TAPML_OK;
}

// What braces hold: shape, and perhaps strides and offset.
static tapml_status
take_view(struct form_reader *reader, struct span braces, struct plain_tensor *out_tensor)
{
    const struct expression **const parts[] = {&out_tensor->shape, &out_tensor->stride,
                                               &out_tensor->offset};
    struct span rest = braces, piece;
    for (size_t i = 0; next_piece(&rest, ':', &piece); i++) {
        if (i == sizeof(parts) / sizeof(*parts)) {
            return status_fail(TAPML_INVALID, "'%.*s' has more than shape, strides and offset",
                               FOUND(braces));
        }
        TAPML_TRY(compile(reader, piece, parts[i]));
    }
    return TAPML_OK;
}

static tapml_status
take_tensor(struct form_reader *reader, struct span piece, struct plain_tensor *out_tensor)
{
    const uint32_t kind = reader->call->schema->params[reader->param].kind;
    struct span name = piece, braces;
    *out_tensor = (struct plain_tensor){0};
    if (split_brackets(piece, '{', '}', &name, &braces)) {
        if (kind != TAPML_P_TENSOR_IN && kind != TAPML_P_TENSORS_IN) {
            return status_fail(TAPML_INVALID, "a view is not written");
        }
        TAPML_TRY(take_view(reader, braces, out_tensor));
    }
    return kind == TAPML_P_TENSOR_OUT ? take_output(reader, name, &out_tensor->value)
                                      : take_input(reader, name, &out_tensor->value);
}

static tapml_status
take_tensors(struct form_reader *reader, struct span piece, struct plain_argument *argument)
{
    struct span head, rest, item;
    uint32_t count = 1;
    const uint32_t value = find_value(reader, piece);
    if (value < reader->op->n_params && reader->op->params[value]->kind == TAPML_P_TENSORS_IN) {
        argument->param = value;
        return check_effects(reader, value);
    }
    if (!split_brackets(piece, '[', ']', &head, &rest) || head.at != head.end) {
        return status_fail(TAPML_INVALID, "'%.*s' is no list in brackets", FOUND(piece));
    }
    for (const char *at = rest.at; at < rest.end; at++) {
        count += *at == ',';
    }
    struct plain_tensor *tensors = arena_array(reader->arena, count, sizeof(*tensors));
    if (!tensors) {
        return status_no_memory();
    }
    while (next_piece(&rest, ',', &item)) {
        TAPML_TRY(take_tensor(reader, item, &tensors[argument->count]));
        argument->count++;
    }
    argument->tensors = tensors;
    return TAPML_OK;
}

static tapml_status
take_one_tensor(struct form_reader *reader, struct span piece, struct plain_argument *argument)
{
    struct plain_tensor *tensor = arena_new(reader->arena, sizeof(*tensor));
    if (!tensor) {
        return status_no_memory();
    }
    argument->tensors = tensor;
    argument->count = 1;
    return take_tensor(reader, piece, tensor);
}

// A number, or the f64 parameter of that name.
static tapml_status
take_f64(struct form_reader *reader, struct span piece, struct plain_argument *argument)
{
    const uint32_t value = find_value(reader, piece);
    const char *text = NULL;
    char *end = NULL;
    if (value < reader->op->n_params && reader->op->params[value]->kind == TAPML_P_F64) {
        argument->param = value;
        return TAPML_OK;
    }
    TAPML_TRY(keep(reader, piece, &text));
    argument->number = strtod(text, &end);
    return end != text && *end == '\0'
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "'%s' is neither a number nor an f64 parameter", text);
}

static tapml_status
take_value(struct form_reader *reader, struct span piece, struct plain_argument *argument)
{
    argument->param = COMPILED_NONE;
    switch (reader->call->schema->params[reader->param].kind) {
    case TAPML_P_I64:
        argument->kind = PLAIN_I64;
        return compile(reader, piece, &argument->sum);
    case TAPML_P_F64:
        argument->kind = PLAIN_F64;
        return take_f64(reader, piece, argument);
    case TAPML_P_TENSORS_IN:
        argument->kind = PLAIN_TENSORS;
        return take_tensors(reader, piece, argument);
    default:
        argument->kind = PLAIN_TENSOR;
        return take_one_tensor(reader, piece, argument);
    }
}

static uint32_t find_param(const tapml_op *op, struct span name)
{
    uint32_t p = 0;
    while (p < op->n_params && !is_text(name, op->params[p]->name)) {
        p++;
    }
    return p;
}

static tapml_status
take_argument(struct form_reader *reader, struct span piece, struct plain_argument *arguments)
{
    const tapml_op *op = reader->call->schema->op;
    const char *equals = find_outside(piece, '=');
    if (!equals) {
        return status_fail(TAPML_INVALID, "'%.*s' is not 'parameter = value'", FOUND(piece));
    }
    const struct span name = expression_form_trim((struct span){piece.at, equals});
    reader->param = find_param(op, name);
    if (reader->param == op->n_params || arguments[reader->param].kind != PLAIN_ABSENT) {
        return status_fail(TAPML_INVALID, "'%.*s' is no parameter, or is given twice", FOUND(name));
    }
    const tapml_status status =
        take_value(reader, expression_form_trim((struct span){equals + 1, piece.end}),
                   &arguments[reader->param]);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "argument '%.*s'", FOUND(name));
}

// -- Calls -------------------------------------------------------------------------------------

static tapml_status take_arguments(struct form_reader *reader, struct span rest)
{
    const tapml_op *op = reader->call->schema->op;
    struct plain_argument *arguments =
        arena_array(reader->arena, (size_t)op->n_params + 1, sizeof(*arguments));
    struct span piece;
    if (!arguments) {
        return status_no_memory();
    }
    reader->call->arguments = arguments;
    while (next_piece(&rest, ',', &piece)) {
        TAPML_TRY(take_argument(reader, piece, arguments));
    }
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (arguments[p].kind == PLAIN_ABSENT && (op->params[p]->effects & TAPML_E_OPTIONAL) == 0) {
            return status_fail(TAPML_INVALID, "parameter '%s' is left out, and is not optional",
                               op->params[p]->name);
        }
    }
    return TAPML_OK;
}

static tapml_status find_op(struct form_reader *reader, struct span name)
{
    const char *at = memchr(name.at, '@', (size_t)(name.end - name.at));
    const char *text = NULL;
    char *end = NULL;
    unsigned long version = 1;
    TAPML_TRY(keep(reader, (struct span){name.at, at ? at : name.end}, &text));
    if (at) {
        version = strtoul(at + 1, &end, 10);
        if (end != name.end || version == 0 || version > UINT32_MAX) {
            return status_fail(TAPML_INVALID, "'%.*s' has no version such as '@2'", FOUND(name));
        }
    }
    reader->call->schema = catalogue_find(reader->catalogue, text, (uint32_t)version);
    if (!reader->call->schema) {
        return status_fail(TAPML_NOT_FOUND, "op '%s', version %lu, is not known", text, version);
    }
    return reader->call->schema != reader->schema
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "the plain form of an op has the op itself in it");
}

static tapml_status take_label(struct form_reader *reader, struct span *io_piece)
{
    const char *colon = find_outside(*io_piece, ':');
    reader->call->label = "";
    if (!colon) {
        return TAPML_OK;
    }
    const struct span label = expression_form_trim((struct span){io_piece->at, colon});
    for (const char *at = label.at; at < label.end; at++) {
        if (!is_name_letter(*at) && !strchr("./-", *at)) {
            return status_fail(TAPML_INVALID, "label '%.*s' has other than letters and digits",
                               FOUND(label));
        }
    }
    if (label.at == label.end || expression_form_length(label) >= PLAIN_LABEL_BYTES) {
        return status_fail(TAPML_INVALID, "a label has 1 to %d letters", PLAIN_LABEL_BYTES - 1);
    }
    io_piece->at = colon + 1;
    *io_piece = expression_form_trim(*io_piece);
    return keep(reader, label, &reader->call->label);
}

static tapml_status take_call(struct form_reader *reader, struct span piece)
{
    struct span name, arguments;
    if (reader->made->call_count == PLAIN_CALLS_MAX) {
        return status_fail(TAPML_INVALID, "more than %d calls", PLAIN_CALLS_MAX);
    }
    reader->call = &reader->calls[reader->made->call_count];
    reader->call->text = piece.at;
    reader->call->length = (uint32_t)expression_form_length(piece);
    TAPML_TRY(take_label(reader, &piece));
    if (!split_brackets(piece, '(', ')', &name, &arguments)) {
        return status_fail(TAPML_INVALID, "'%.*s' is not 'op(parameter = value, ...)'",
                           FOUND(piece));
    }
    TAPML_TRY(find_op(reader, name));
    const tapml_status status = take_arguments(reader, arguments);
    if (status != TAPML_OK) {
        return status_explain(status, "call of '%.*s'", FOUND(name));
    }
    reader->made->call_count++;
    return TAPML_OK;
}

// Each output of the op is written.
static tapml_status check_outputs(const struct form_reader *reader)
{
    for (uint32_t p = 0; p < reader->op->n_params; p++) {
        if (!is_written(reader, p)) {
            return status_fail(TAPML_INVALID, "no call writes '%s'", reader->op->params[p]->name);
        }
    }
    return TAPML_OK;
}

static tapml_status read_all(struct form_reader *reader)
{
    struct span rest = {reader->op->expands, reader->op->expands + strlen(reader->op->expands)};
    struct span piece;
    for (uint32_t p = 0; p < reader->op->n_params; p++) {
        reader->values[p] = (struct plain_value){reader->op->params[p]->name, COMPILED_NONE};
    }
    reader->made->value_count = reader->op->n_params;
    while (next_piece(&rest, ';', &piece)) {
        if (piece.at != piece.end || reader->made->call_count == 0) {
            TAPML_TRY(take_call(reader, piece));
        }
    }
    return check_outputs(reader);
}

tapml_status plain_form_create(const struct compiled_op *schema,
                               const struct catalogue *catalogue,
                               struct arena *arena,
                               const struct plain_form **out_form)
{
    struct form_reader reader = {
        .op = schema->op,
        .schema = schema,
        .catalogue = catalogue,
        .arena = arena,
        .made = arena_new(arena, sizeof(*reader.made)),
        .values = arena_array(arena, PLAIN_VALUES_MAX, sizeof(*reader.values)),
        .calls = arena_array(arena, PLAIN_CALLS_MAX, sizeof(*reader.calls)),
    };
    if (!reader.made || !reader.values || !reader.calls) {
        return status_no_memory();
    }
    reader.made->schema = schema;
    reader.made->names = schema->names;
    reader.made->values = reader.values;
    reader.made->calls = reader.calls;
    const tapml_status status = read_all(&reader);
    if (status != TAPML_OK) {
        return status_explain(status, "the plain form of '%s'", schema->op->name);
    }
    *out_form = reader.made;
    return TAPML_OK;
}

// -- What there is -----------------------------------------------------------------------------

enum { FORMS_MAX = 8 }; // Of the form of an op in that of an op, and so on.

struct looking_for_op {
    const struct catalogue *catalogue;
    struct arena *arena;
    plain_form_has has;
    void *user;
};

static int is_there(const struct looking_for_op *looking, const tapml_op *op, int depth)
{
    const struct compiled_op *schema = catalogue_find(looking->catalogue, op->name, op->version);
    const struct plain_form *form = NULL;
    int has_all = 1;
    if (looking->has(looking->user, op)) {
        return 1;
    }
    if (!schema || !schema->op->expands || schema->op->expands[0] == '\0' || depth == FORMS_MAX ||
        plain_form_create(schema, looking->catalogue, looking->arena, &form) != TAPML_OK) {
        return 0;
    }
    for (uint32_t i = 0; has_all && i < form->call_count; i++) {
        has_all = is_there(looking, form->calls[i].schema->op, depth + 1);
    }
    return has_all;
}

int plain_form_is_there(const struct catalogue *catalogue,
                        const tapml_op *op,
                        plain_form_has has,
                        void *user)
{
    struct looking_for_op looking = {catalogue, arena_create(), has, user};
    const int found = looking.arena && is_there(&looking, op, 0);
    arena_destroy(looking.arena);
    return found;
}
