// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_onnx.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/file.h"
#include "run/onnx_message.h"
#include "run/onnx_recipe.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 128, NUMBERS_MAX = 8, BYTES_MAX = 1 << 30, IR_VERSION = 9 };

// Fields of NodeProto, AttributeProto, GraphProto, OperatorSetIdProto and ModelProto.
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5 };
enum {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_I = 3,
    ATTRIBUTE_S = 4,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_TYPE = 20
};
enum { TYPE_INT = 2, TYPE_STRING = 3, TYPE_INTS = 7 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { SET_VERSION = 2 };
enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };

// A model that is being made.
struct onnx_model {
    const struct case_export *from;
    const struct onnx_recipe *recipe;
    struct arena *arena;
    struct text graph;
    int constants; // So far; their names are numbered.
    int inputs, outputs;
};

static tapml_status refuse(const struct onnx_model *model, const char *what)
{
    return status_fail(TAPML_UNIMPLEMENTED, "--as onnx: %s of this case has no form in ONNX: %s",
                       model->from->item->op_name, what);
}

// -- Arguments of the case ---------------------------------------------------------------------

static const struct case_argument *
find(const struct onnx_model *model, const char *name, size_t length)
{
    const struct carved_case *item = model->from->item;

    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (strlen(item->arguments[i].name) == length &&
            strncmp(item->arguments[i].name, name, length) == 0) {
            return &item->arguments[i];
        }
    }
    return NULL;
}

static int is_there(const struct case_argument *argument)
{
    return argument != NULL && argument->kind != TAPML_V_NONE &&
           (argument->kind != TAPML_P_I64 || argument->i != 0) &&
           (argument->kind != TAPML_P_F64 || argument->d != 0);
}

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind != TAPML_V_NONE && argument->kind != TAPML_P_I64 &&
           argument->kind != TAPML_P_F64;
}

static int is_narrow(const struct case_argument *argument)
{
    return is_tensor(argument) && (argument->dtype == TAPML_F16 || argument->dtype == TAPML_BF16);
}

// The shape of what is exported: of a state its kept rows, of a weight its own.
static void shape_of(const struct case_argument *argument, int64_t *out_shape)
{
    case_content_shape(argument, out_shape);
    if ((argument->effects & TAPML_E_WEIGHT) != 0) {
        memcpy(out_shape, argument->shape, sizeof(argument->shape));
    }
}

static tapml_status check(const struct onnx_model *model, const struct case_argument *argument)
{
    TAPML_TRY(case_export_check_name(argument->name));
    if (!is_tensor(argument)) {
        return TAPML_OK;
    }
    if (argument->encoding != NULL || argument->kind == TAPML_P_TENSORS_IN) {
        return refuse(model, "it has weights in blocks, or a list of them");
    }
    if (case_is_output(argument) && argument->dtype != TAPML_F32) {
        return refuse(model, "its output is not f32");
    }
    if ((argument->effects & TAPML_E_WEIGHT) != 0 &&
        (argument->offset_bytes != 0 ||
         !shape_is_dense(argument->shape, argument->stride, argument->rank))) {
        return refuse(model, "a weight is a part of a larger one");
    }
    return TAPML_OK;
}

static tapml_status check_all(const struct onnx_model *model)
{
    const struct carved_case *item = model->from->item;
    uint64_t bytes = 0;

    for (const char *at = model->recipe->refused; *at != '\0'; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");

        if (is_there(find(model, at, length))) {
            return refuse(model, arena_format(model->arena, "'%.*s' is there", (int)length, at));
        }
        at += length;
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        TAPML_TRY(check(model, &item->arguments[i]));
        bytes += is_tensor(&item->arguments[i]) ? 2 * item->arguments[i].base_bytes : 0;
    }
    return bytes <= BYTES_MAX ? TAPML_OK
                              : status_fail(TAPML_INVALID,
                                            "--as onnx: the case has %" PRIu64
                                            " bytes, expected at most %d; --as npy writes arrays",
                                            bytes, BYTES_MAX);
}

// -- Constants ---------------------------------------------------------------------------------

static void
add_constant(struct onnx_model *model, const struct onnx_tensor *tensor, char out_name[NAME_BYTES])
{
    struct onnx_tensor named = *tensor;

    (void)snprintf(out_name, NAME_BYTES, "constant.%d", model->constants++);
    named.name = out_name;
    onnx_message_tensor(&model->graph, GRAPH_INITIALIZER, &named);
}

static void add_scalar(struct onnx_model *model, double value, char out_name[NAME_BYTES])
{
    const float narrow = (float)value;

    add_constant(
        model, &(struct onnx_tensor){.dtype = TAPML_F32, .data = &narrow, .bytes = sizeof(narrow)},
        out_name);
}

// A literal, a number of the op, "cos.1", "x.-1", "state.end".
static int64_t read_factor(const struct onnx_model *model, const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);
    const size_t name = dot != NULL ? (size_t)(dot - text) : length;
    const struct case_argument *argument = find(model, text, name);
    int64_t shape[TAPML_MAX_RANK];

    if (argument == NULL) {
        return strtoll(text, NULL, 10);
    }
    if (dot == NULL) {
        return argument->i;
    }
    if (strncmp(dot, ".begin", 6) == 0) {
        return argument->region_begin - argument->kept_begin;
    }
    if (strncmp(dot, ".end", 4) == 0) {
        return argument->region_end - argument->kept_begin;
    }
    const int64_t axis = strtoll(dot + 1, NULL, 10);

    shape_of(argument, shape);
    return shape[axis < 0 ? (int64_t)argument->rank + axis : axis];
}

// A factor, "2*cos.1" or "q.1/k_state.1".
static int64_t read_term(const struct onnx_model *model, const char *text, size_t length)
{
    const char *times = memchr(text, '*', length), *over = memchr(text, '/', length);
    const char *sign = times != NULL ? times : over;

    if (sign == NULL) {
        return read_factor(model, text, length);
    }
    const size_t first = (size_t)(sign - text);
    const int64_t left = read_factor(model, text, first);
    const int64_t right = read_factor(model, sign + 1, length - first - 1);

    return times != NULL ? left * right : right != 0 ? left / right : 0;
}

static void add_numbers(struct onnx_model *model, const char *text, char out_name[NAME_BYTES])
{
    int64_t numbers[NUMBERS_MAX], count = 0;

    for (text += strspn(text, "[ "); *text != ']'; text += strspn(text, " ")) {
        const size_t length = strcspn(text, " ]");

        ASSERT(count < NUMBERS_MAX);
        numbers[count++] = read_term(model, text, length);
        text += length;
    }
    add_constant(model,
                 &(struct onnx_tensor){.dtype = TAPML_I64,
                                       .rank = 1,
                                       .shape = &count,
                                       .data = numbers,
                                       .bytes = (uint64_t)count * sizeof(*numbers)},
                 out_name);
}

static int64_t number_of(const struct onnx_model *model, const char *name)
{
    const struct case_argument *argument = find(model, name, strlen(name));

    return argument != NULL ? argument->i : 0;
}

// 0 for what a query sees, minus infinity for the rest, as tapml.attention has it.
static tapml_status add_mask(struct onnx_model *model, char out_name[NAME_BYTES])
{
    const int64_t position = number_of(model, "position"), window = number_of(model, "window");
    const int64_t chunk = number_of(model, "chunk"), causal = number_of(model, "causal");
    const int64_t shape[] = {read_factor(model, "q.0", 3), read_factor(model, "k_state.end", 11)};
    const size_t count = (size_t)(shape[0] * shape[1]);
    float *mask = arena_array(model->arena, count + 1, sizeof(*mask));

    if (mask == NULL) {
        return status_no_memory();
    }
    for (size_t at = 0; at < count; at++) {
        const int64_t i = position + (int64_t)at / shape[1], s = (int64_t)at % shape[1];
        const int is_hidden = (causal && s > i) || (window > 0 && i - s >= window) ||
                              (chunk > 0 && s / chunk != i / chunk);

        mask[at] = is_hidden ? -INFINITY : 0;
    }
    add_constant(model,
                 &(struct onnx_tensor){.dtype = TAPML_F32,
                                       .rank = 2,
                                       .shape = shape,
                                       .data = mask,
                                       .bytes = count * sizeof(*mask)},
                 out_name);
    return TAPML_OK;
}

// -- Nodes -------------------------------------------------------------------------------------

// The value that an argument of a statement is; constants are made.
static tapml_status
name_argument(struct onnx_model *model, const char *text, size_t length, char out_name[NAME_BYTES])
{
    if (*text == '$') {
        const struct case_argument *argument = find(model, text + 1, length - 1);

        ASSERT(argument != NULL);
        add_scalar(model, argument->kind == TAPML_P_F64 ? argument->d : (double)argument->i,
                   out_name);
    } else if (*text == '[') {
        add_numbers(model, text, out_name);
    } else if (length == 4 && strncmp(text, "mask", 4) == 0) {
        return add_mask(model, out_name);
    } else {
        (void)snprintf(out_name, NAME_BYTES, "%.*s", (int)length, text);
    }
    return TAPML_OK;
}

// "axis=-1", "perm=1,0,2", "approximate=tanh".
static void add_attribute(struct text *node, const char *text, size_t length)
{
    const size_t name = strcspn(text, "=");
    const char *value = text + name + 1;
    const char *end = text + length;
    char word[NAME_BYTES];
    struct text part;

    text_init(&part);
    onnx_message_bytes(&part, ATTRIBUTE_NAME, text, name);
    if (isalpha((unsigned char)*value)) {
        (void)snprintf(word, sizeof(word), "%.*s", (int)(end - value), value);
        onnx_message_text(&part, ATTRIBUTE_S, word);
        onnx_message_number(&part, ATTRIBUTE_TYPE, TYPE_STRING);
    } else if (memchr(value, ',', (size_t)(end - value)) != NULL) {
        for (; value < end; value += strcspn(value, ",}") + 1) {
            onnx_message_number(&part, ATTRIBUTE_INTS, strtoll(value, NULL, 10));
        }
        onnx_message_number(&part, ATTRIBUTE_TYPE, TYPE_INTS);
    } else {
        onnx_message_number(&part, ATTRIBUTE_I, strtoll(value, NULL, 10));
        onnx_message_number(&part, ATTRIBUTE_TYPE, TYPE_INT);
    }
    onnx_message_part(node, NODE_ATTRIBUTE, &part);
    text_release(&part);
}

static tapml_status add_inputs(struct onnx_model *model, const char *text, struct text *node)
{
    char name[NAME_BYTES];

    for (text += strspn(text, "( "); *text != ')'; text += strspn(text, ", ")) {
        const size_t length = *text == '[' ? strcspn(text, "]") + 1 : strcspn(text, ",) ");

        TAPML_TRY(name_argument(model, text, length, name));
        onnx_message_text(node, NODE_INPUT, name);
        text += length;
    }
    return TAPML_OK;
}

// "out = Op(a, b) {axis=0}", which `text` begins with.
static tapml_status add_node(struct onnx_model *model, const char *text, struct text *node)
{
    const size_t output = strcspn(text, " =");
    const char *op = text + output + strspn(text + output, " =");
    const size_t op_length = strcspn(op, "(");
    const size_t end = strcspn(text, ";");
    const char *attributes = memchr(text, '{', end);

    TAPML_TRY(add_inputs(model, op + op_length, node));
    onnx_message_bytes(node, NODE_OUTPUT, text, output);
    onnx_message_bytes(node, NODE_OP_TYPE, op, op_length);
    if (attributes != NULL) {
        add_attribute(node, attributes + 1, strcspn(attributes + 1, "}"));
    }
    onnx_message_part(&model->graph, GRAPH_NODE, node);
    return TAPML_OK;
}

// Whether a statement counts; `*io_text` is moved behind its condition.
static int is_wanted(const struct onnx_model *model, const char **io_text)
{
    const char *text = *io_text;
    const size_t length = strcspn(text, ":;");

    if (*text != '?' && *text != '!') {
        return 1;
    }
    *io_text = text + length + 1 + strspn(text + length + 1, " ");
    return is_there(find(model, text + 1, length - 1)) == (*text == '?');
}

static tapml_status add_statements(struct onnx_model *model)
{
    for (const char *text = model->recipe->text; *text != '\0'; text += strspn(text, "; ")) {
        const char *statement = text;
        tapml_status status = TAPML_OK;
        struct text node;

        text_init(&node);
        if (is_wanted(model, &statement)) {
            status = add_node(model, statement, &node);
        }
        text_release(&node);
        TAPML_TRY(status);
        text += strcspn(text, ";");
    }
    return text_status(&model->graph);
}

// -- Inputs, outputs and files -----------------------------------------------------------------

static tapml_status
write_file(const struct onnx_model *model, const char *name, const struct text *text)
{
    const char *path = arena_format(model->arena, "%s/%s", model->from->folder, name);

    TAPML_TRY(text_status(text));
    return path != NULL ? file_write(path, text->data, text->length) : status_no_memory();
}

// A tensor as a value of the graph, and its contents as a file of the data set.
static tapml_status add_value(struct onnx_model *model,
                              const struct onnx_tensor *tensor,
                              uint32_t field,
                              int *io_number)
{
    char name[NAME_BYTES];
    struct text file;

    onnx_message_value(&model->graph, field, tensor);
    (void)snprintf(name, sizeof(name), "test_data_set_0/%s_%d.pb",
                   field == GRAPH_INPUT ? "input" : "output", (*io_number)++);
    text_init(&file);
    onnx_message_tensor(&file, 0, tensor);
    const tapml_status status = write_file(model, name, &file);

    text_release(&file);
    return status;
}

// f16 and bf16 become f32, which loses nothing: what reads such files has no bf16.
static tapml_status widen(const struct onnx_model *model, struct onnx_tensor *tensor)
{
    const size_t count = (size_t)tensor->bytes / dtype_bytes(tensor->dtype);
    const uint16_t *narrow = tensor->data;
    float *wide = arena_array(model->arena, count + 1, sizeof(*wide));

    if (wide == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t bits = 0;

        memcpy(&bits, &narrow[i], sizeof(bits)); // Of a checkpoint, at any address.
        wide[i] = tensor->dtype == TAPML_F16 ? convert_f16_to_f32(bits) : convert_bf16_to_f32(bits);
    }
    tensor->dtype = TAPML_F32;
    tensor->data = wide;
    tensor->bytes = count * sizeof(*wide);
    return TAPML_OK;
}

static tapml_status add_tensor(struct onnx_model *model, const struct case_argument *argument)
{
    struct case_argument whole;
    int64_t shape[TAPML_MAX_RANK];
    char name[NAME_BYTES];

    TAPML_TRY(case_export_weight(model->from, argument, &whole));
    shape_of(argument, shape);
    struct onnx_tensor tensor = {.name = argument->name,
                                 .dtype = argument->dtype,
                                 .rank = argument->rank,
                                 .shape = shape,
                                 .data = whole.before,
                                 .bytes = whole.content_bytes};

    if (whole.before != NULL) {
        TAPML_TRY(is_narrow(argument) ? widen(model, &tensor) : TAPML_OK);
        TAPML_TRY(add_value(model, &tensor, GRAPH_INPUT, &model->inputs));
    }
    if (argument->after != NULL) {
        (void)snprintf(name, sizeof(name), "%.100s%s", argument->name,
                       whole.before != NULL ? "_out" : "");
        tensor.name = name;
        tensor.data = argument->after;
        TAPML_TRY(add_value(model, &tensor, GRAPH_OUTPUT, &model->outputs));
    }
    return TAPML_OK;
}

static tapml_status write_model(struct onnx_model *model)
{
    struct text file, opset;

    text_init(&file);
    text_init(&opset);
    onnx_message_text(&model->graph, GRAPH_NAME, "case");
    onnx_message_number(&opset, SET_VERSION, CASE_ONNX_OPSET);
    onnx_message_number(&file, MODEL_IR_VERSION, IR_VERSION);
    onnx_message_text(&file, MODEL_PRODUCER, "tapml-host");
    onnx_message_part(&file, MODEL_GRAPH, &model->graph);
    onnx_message_part(&file, MODEL_OPSET, &opset);
    const tapml_status status = write_file(model, "model.onnx", &file);

    text_release(&file);
    text_release(&opset);
    return status;
}

static tapml_status make_folders(const struct onnx_model *model)
{
    const char *data = arena_format(model->arena, "%s/test_data_set_0", model->from->folder);

    if (data == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(file_make_folder(model->from->folder));
    return file_make_folder(data);
}

static tapml_status make(struct onnx_model *model)
{
    const struct carved_case *item = model->from->item;

    if (model->arena == NULL) {
        return status_no_memory();
    }
    if (model->recipe == NULL) {
        return refuse(model, "there is no recipe for the operator");
    }
    TAPML_TRY(check_all(model));
    TAPML_TRY(make_folders(model));
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (is_tensor(&item->arguments[i])) {
            TAPML_TRY(add_tensor(model, &item->arguments[i]));
        }
    }
    TAPML_TRY(add_statements(model));
    return write_model(model);
}

tapml_status case_onnx_write(const struct case_export *export_)
{
    struct onnx_model model = {.from = export_,
                               .recipe = onnx_recipe_find(export_->item->op_name),
                               .arena = arena_create()};

    text_init(&model.graph);
    const tapml_status status = make(&model);

    text_release(&model.graph);
    arena_destroy(model.arena);
    return status;
}
