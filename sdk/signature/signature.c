// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include <tapml/signature.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 96 };

static const struct {
    const char *name;
    uint32_t type;
} types[] = {
    {"f32", TAPML_F32}, {"f16", TAPML_F16}, {"bf16", TAPML_BF16}, {"i32", TAPML_I32},
    {"i64", TAPML_I64}, {"f64", TAPML_F64}, {"u8", TAPML_U8},
};

// Where a line is read, and what is wrong with it.
struct reader {
    const tapml_op *op;
    char word[WORD]; // At hand, whole.
    char *problem;
    size_t size;
};

static int refuse(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(char *text, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, size, format, arguments); // May be cut.
    va_end(arguments);
    return 0;
}

const char *signature_type_name(uint32_t type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (types[i].type == type) {
            return types[i].name;
        }
    }
    return "?";
}

static int is_tensor(const tapml_param *param)
{
    return param->kind == TAPML_P_TENSOR_IN || param->kind == TAPML_P_TENSOR_OUT ||
           param->kind == TAPML_P_TENSOR_INOUT;
}

// -- Reading -----------------------------------------------------------------------------------

static int find_param(const struct reader *reader, const char *name, uint32_t *out_param)
{
    char known[256] = "";

    for (uint32_t i = 0; i < reader->op->n_params; i++) {
        const size_t used = strlen(known);

        if (strcmp(reader->op->params[i]->name, name) == 0) {
            *out_param = i;
            return 1;
        }
        (void)snprintf(known + used, sizeof(known) - used, " %s", reader->op->params[i]->name);
    }
    return refuse(reader->problem, reader->size, "'%s': %s has no parameter '%s', it has%s",
                  reader->word, reader->op->name, name, known);
}

// An axis: one digit below TAPML_MAX_RANK.
static int read_axis(const char *text, uint32_t *out_axis)
{
    if (text[0] < '0' || text[0] >= '0' + (int)TAPML_MAX_RANK || text[1] != '\0') {
        return 0;
    }
    *out_axis = (uint32_t)(text[0] - '0');
    return 1;
}

static int
read_property(const struct reader *reader, const char *text, struct signature_argument *argument)
{
    static const char stride[] = "stride";
    static const struct {
        const char *name;
        enum signature_property property;
    } properties[] = {
        {"count", SIGNATURE_COUNT}, {"rows", SIGNATURE_ROWS}, {"width", SIGNATURE_WIDTH}};

    for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
        if (strcmp(properties[i].name, text) == 0) {
            argument->property = properties[i].property;
            return 1;
        }
    }
    argument->property = SIGNATURE_EXTENT;
    if (strncmp(text, stride, sizeof(stride) - 1) == 0) {
        argument->property = SIGNATURE_STRIDE;
        text += sizeof(stride) - 1;
    }
    return read_axis(text, &argument->axis) ||
           refuse(
               reader->problem, reader->size,
               "'%s': '%s' is none of count, rows, width, an axis 0 .. 5, and stride with an axis",
               reader->word, text);
}

// A term without its type; `name` is changed.
static int read_term(const struct reader *reader, char *name, struct signature_argument *argument)
{
    char *dot = strchr(name, '.'), *end = NULL;
    const long long literal = strtoll(name, &end, 10);

    if (*name != '\0' && *end == '\0') {
        argument->property = SIGNATURE_LITERAL;
        argument->literal = literal;
        return 1;
    }
    if (*name == '*') {
        argument->property = name[1] == '\0' ? SIGNATURE_VALUES : SIGNATURE_OP;
        return name[1] == '\0' || strcmp(name, "*op") == 0 ||
               refuse(reader->problem, reader->size, "'%s': expected '*' or '*op'", reader->word);
    }
    if (dot != NULL) {
        *dot = '\0';
    }
    if (!find_param(reader, name, &argument->param)) {
        return 0;
    }
    const tapml_param *param = reader->op->params[argument->param];

    if (param->kind == TAPML_P_TENSORS_IN) {
        return refuse(reader->problem, reader->size,
                      "'%s': lists of tensors cannot be passed to such a function", reader->word);
    }
    if (dot == NULL) {
        argument->property = is_tensor(param) ? SIGNATURE_TENSOR : SIGNATURE_VALUE;
        return 1;
    }
    return is_tensor(param)
               ? read_property(reader, dot + 1, argument)
               : refuse(reader->problem, reader->size, "'%s': '%s' is a number and has no extents",
                        reader->word, name);
}

static uint32_t default_type(const struct reader *reader, const struct signature_argument *argument)
{
    if (argument->property == SIGNATURE_TENSOR) {
        return TAPML_F32;
    }
    return argument->property == SIGNATURE_VALUE &&
                   reader->op->params[argument->param]->kind == TAPML_P_F64
               ? TAPML_F64
               : TAPML_I64;
}

static int is_passed(const struct signature_argument *argument, uint32_t type)
{
    if (argument->property == SIGNATURE_VALUES || argument->property == SIGNATURE_OP) {
        return 0;
    }
    return argument->property == SIGNATURE_TENSOR
               ? type != TAPML_I64 && type != TAPML_F64
               : type == TAPML_I32 || type == TAPML_I64 || type == TAPML_F32 || type == TAPML_F64;
}

static int
read_type(const struct reader *reader, const char *name, struct signature_argument *argument)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (strcmp(types[i].name, name) == 0 && is_passed(argument, types[i].type)) {
            argument->type = types[i].type;
            return 1;
        }
    }
    return refuse(reader->problem, reader->size, "'%s': the type is '%s', expected %s",
                  reader->word, name,
                  argument->property == SIGNATURE_TENSOR ? "f32, f16, bf16, i32 or u8"
                                                         : "i32, i64, f32 or f64");
}

static int read_word(const struct reader *reader, struct signature_argument *out_argument)
{
    struct signature_argument argument = {.property = SIGNATURE_LITERAL};
    char name[WORD];

    memcpy(name, reader->word, sizeof(name));
    char *colon = strchr(name, ':');

    if (colon != NULL) {
        *colon = '\0';
    }
    if (!read_term(reader, name, &argument)) {
        return 0;
    }
    argument.type = default_type(reader, &argument);
    if (colon != NULL && !read_type(reader, colon + 1, &argument)) {
        return 0;
    }
    *out_argument = argument;
    return 1;
}

// The next word of `*io_at`; 0 at the end. A word that is too long is cut, and then not known.
static int next_word(const char **io_at, char out_word[WORD])
{
    const char *at = *io_at;
    size_t length = 0;

    while (isspace((unsigned char)*at)) {
        at++;
    }
    while (at[length] != '\0' && !isspace((unsigned char)at[length])) {
        length++;
    }
    *io_at = at + length;
    length = length < WORD ? length : WORD - 1;
    memcpy(out_word, at, length);
    memset(out_word + length, 0, WORD - length);
    return length > 0;
}

int signature_has_values(const struct signature *signature)
{
    for (uint32_t i = 0; i < signature->count; i++) {
        if (signature->arguments[i].property == SIGNATURE_VALUES) {
            return 1;
        }
    }
    return 0;
}

// A function that is not given an output cannot compute it.
static int check_outputs(const struct reader *reader, const struct signature *signature)
{
    if (signature_has_values(signature)) {
        return 1;
    }
    for (uint32_t i = 0; i < reader->op->n_params; i++) {
        const tapml_param *param = reader->op->params[i];
        int is_there = 0;

        for (uint32_t k = 0; k < signature->count; k++) {
            is_there |= signature->arguments[k].property == SIGNATURE_TENSOR &&
                        signature->arguments[k].param == i;
        }
        if (!is_there &&
            (param->kind == TAPML_P_TENSOR_OUT || param->kind == TAPML_P_TENSOR_INOUT)) {
            return refuse(reader->problem, reader->size,
                          "output '%s' of %s is not among the arguments", param->name,
                          reader->op->name);
        }
    }
    return 1;
}

int signature_parse(const char *text,
                    const tapml_op *op,
                    struct signature *out_signature,
                    char *problem,
                    size_t size)
{
    struct reader reader = {.op = op, .problem = problem, .size = size};
    struct signature signature = {.op = op};

    while (next_word(&text, reader.word)) {
        if (signature.count == SIGNATURE_ARGUMENTS_MAX) {
            return refuse(problem, size, "there are more than %d arguments",
                          SIGNATURE_ARGUMENTS_MAX);
        }
        if (!read_word(&reader, &signature.arguments[signature.count++])) {
            return 0;
        }
    }
    if (!check_outputs(&reader, &signature)) {
        return 0;
    }
    *out_signature = signature;
    return 1;
}

int signature_parse_number(const char *word,
                           const tapml_op *op,
                           struct signature *out_signature,
                           char *problem,
                           size_t size)
{
    struct reader reader = {.op = op, .problem = problem, .size = size};
    struct signature signature = {.op = op, .count = 1};

    if (!next_word(&word, reader.word) || !read_word(&reader, &signature.arguments[0])) {
        return *reader.word != '\0' ? 0 : refuse(problem, size, "a number is missing");
    }
    const enum signature_property property = signature.arguments[0].property;

    if (property == SIGNATURE_TENSOR || property == SIGNATURE_VALUES || property == SIGNATURE_OP) {
        return refuse(problem, size, "'%s' is %s, and no number", reader.word,
                      property == SIGNATURE_TENSOR ? "a tensor" : "an address");
    }
    *out_signature = signature;
    return 1;
}

// -- A call ------------------------------------------------------------------------------------

const tapml_tensor *signature_tensor(const struct signature_argument *argument,
                                     const tapml_value *args)
{
    const tapml_value *value = &args[argument->param];

    return value->kind == TAPML_V_NONE ? NULL : value->u.p;
}

static int64_t extent(const tapml_tensor *tensor, uint32_t axis)
{
    return axis < tensor->rank ? tensor->shape[axis] : 1;
}

static int64_t product(const tapml_tensor *tensor, uint32_t rank)
{
    int64_t count = 1;

    for (uint32_t i = 0; i < rank; i++) {
        count *= tensor->shape[i];
    }
    return count;
}

static int64_t dense_stride(const tapml_tensor *tensor, uint32_t axis)
{
    int64_t stride = 1;

    for (uint32_t i = axis + 1; i < tensor->rank; i++) {
        stride *= tensor->shape[i];
    }
    return stride;
}

static int64_t stride_of(const tapml_tensor *tensor, uint32_t axis)
{
    if (axis >= tensor->rank) {
        return 0;
    }
    return tensor->stride != NULL ? tensor->stride[axis] : dense_stride(tensor, axis);
}

static int64_t measure(const struct signature_argument *argument, const tapml_tensor *tensor)
{
    const uint32_t rank = tensor->rank;

    switch (argument->property) {
    case SIGNATURE_COUNT:
        return product(tensor, rank);
    case SIGNATURE_ROWS:
        return product(tensor, rank > 0 ? rank - 1 : 0);
    case SIGNATURE_WIDTH:
        return rank > 0 ? tensor->shape[rank - 1] : 1;
    case SIGNATURE_EXTENT:
        return extent(tensor, argument->axis);
    case SIGNATURE_STRIDE:
        return stride_of(tensor, argument->axis);
    case SIGNATURE_TENSOR:
    case SIGNATURE_VALUE:
    case SIGNATURE_LITERAL:
    case SIGNATURE_VALUES:
    case SIGNATURE_OP:
        break;
    }
    return 0;
}

int64_t signature_whole(const struct signature_argument *argument, const tapml_value *args)
{
    if (argument->property == SIGNATURE_LITERAL) {
        return argument->literal;
    }
    const tapml_value *value = &args[argument->param];

    if (argument->property == SIGNATURE_VALUE) {
        return value->kind == TAPML_P_F64 ? (int64_t)value->u.d : value->u.i;
    }
    const tapml_tensor *tensor = signature_tensor(argument, args);

    return tensor != NULL ? measure(argument, tensor) : 0;
}

double signature_number(const struct signature_argument *argument, const tapml_value *args)
{
    const int is_real =
        argument->property == SIGNATURE_VALUE && args[argument->param].kind == TAPML_P_F64;

    return is_real ? args[argument->param].u.d : (double)signature_whole(argument, args);
}

static int is_dense(const tapml_tensor *tensor)
{
    for (uint32_t i = 0; tensor->stride != NULL && i < tensor->rank; i++) {
        if (tensor->shape[i] > 1 && tensor->stride[i] != dense_stride(tensor, i)) {
            return 0;
        }
    }
    return 1;
}

static int has_strides(const struct signature *signature, uint32_t param, uint32_t rank)
{
    uint32_t axes = 0;

    for (uint32_t i = 0; i < signature->count; i++) {
        const struct signature_argument *argument = &signature->arguments[i];

        if (argument->property == SIGNATURE_STRIDE && argument->param == param) {
            axes |= 1u << argument->axis;
        }
    }
    return (axes & ((1u << rank) - 1)) == (1u << rank) - 1;
}

static int takes_tensor(const struct signature *signature,
                        const struct signature_argument *argument,
                        const tapml_tensor *tensor,
                        char *reason,
                        size_t size)
{
    const char *name = signature->op->params[argument->param]->name;

    if (tensor->encoding != NULL) {
        return refuse(reason, size, "'%s' is encoded as '%s'", name, tensor->encoding->id);
    }
    if (tensor->dtype != argument->type) {
        return refuse(reason, size, "'%s' is %s, the function takes %s", name,
                      signature_type_name(tensor->dtype), signature_type_name(argument->type));
    }
    if (tensor->next != NULL) {
        return refuse(reason, size, "'%s' comes in panels", name);
    }
    if (!is_dense(tensor) && !has_strides(signature, argument->param, tensor->rank)) {
        return refuse(reason, size, "'%s' is not dense, and its strides are no arguments", name);
    }
    return 1;
}

// What the function is not given it cannot heed: a number may be left out where it has one value
// alone, which nobody knows here, but a tensor that is there counts.
static int misses(const struct signature *signature, uint32_t param, const tapml_value *args)
{
    for (uint32_t i = 0; i < signature->count; i++) {
        if (signature->arguments[i].property == SIGNATURE_TENSOR &&
            signature->arguments[i].param == param) {
            return 0;
        }
    }
    return args[param].kind != TAPML_V_NONE && args[param].u.p != NULL &&
           (is_tensor(signature->op->params[param]) ||
            signature->op->params[param]->kind == TAPML_P_TENSORS_IN);
}

int signature_takes(const struct signature *signature,
                    const tapml_value *args,
                    char *reason,
                    size_t size)
{
    for (uint32_t i = 0; i < signature->count; i++) {
        const struct signature_argument *argument = &signature->arguments[i];
        const tapml_tensor *tensor =
            argument->property == SIGNATURE_TENSOR ? signature_tensor(argument, args) : NULL;

        if (tensor != NULL && !takes_tensor(signature, argument, tensor, reason, size)) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < signature->op->n_params && !signature_has_values(signature); i++) {
        if (misses(signature, i, args)) {
            return refuse(reason, size, "'%s' is there, and no argument of the function",
                          signature->op->params[i]->name);
        }
    }
    return 1;
}
