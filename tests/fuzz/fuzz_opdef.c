// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// schema/catalogue, schema/compiled, schema/expression and schema/infer: any text of an .opdef file
// as the schema of a stranger's plugin. A further section [call] gives arguments: `x = f32 2,T,8 /
// 16,8,1` is a tensor with its strides, `position = 5` a number.
#include "fuzz.h"

#include "base/arena.h"
#include "schema/catalogue.h"
#include "schema/infer.h"
#include "tensor/dtype.h"

#include <stdlib.h>
#include <string.h>

enum { PARAMS_MAX = COMPILED_PARAMS_MAX + 2, TEXT_MAX = 1 << 16 };

// An argument of the call, in the two forms in which the host has one.
struct operand {
    tapml_tensor tensor;
    const tapml_tensor *list[1];
    int64_t shape[TAPML_MAX_RANK], stride[TAPML_MAX_RANK];
    struct infer_argument symbolic;
};

struct reading {
    struct arena *arena;
    tapml_op op;
    tapml_param params[PARAMS_MAX];
    const tapml_param *list[PARAMS_MAX];
    struct operand operands[PARAMS_MAX];
    tapml_value values[PARAMS_MAX];
};

static void read_op(tapml_op *op, const char *key, const char *value)
{
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"name", &op->name},
                 {"title", &op->title},
                 {"formula", &op->formula},
                 {"tolerance", &op->tolerance},
                 {"flops", &op->flops}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (strcmp(texts[i].key, key) == 0) {
            *texts[i].text = value;
        }
    }
    if (strcmp(key, "version") == 0) {
        op->version = (uint32_t)strtoul(value, NULL, 10);
    }
}

// The kinds and effects by the words of sdk/tools/opgen.
static void read_kind(tapml_param *param, const char *value)
{
    static const struct {
        const char *word;
        uint32_t kind, effects; // 0: as it was.
    } words[] = {
        {"in", TAPML_P_TENSOR_IN, 0},
        {"out", TAPML_P_TENSOR_OUT, 0},
        {"inout", TAPML_P_TENSOR_INOUT, 0},
        {"weight", 0, TAPML_E_WEIGHT},
        {"state-read", 0, TAPML_E_STATE_READ},
        {"state-write", TAPML_P_TENSOR_INOUT, TAPML_E_STATE_WRITE},
        {"optional", 0, TAPML_E_OPTIONAL},
        {"tensor", TAPML_P_TENSOR_IN, 0},
        {"tensors", TAPML_P_TENSORS_IN, 0},
        {"i64", TAPML_P_I64, 0},
        {"f64", TAPML_P_F64, 0},
        {"strange", 77, 1u << 20},
    };
    for (const char *at = value; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
            if (strlen(words[i].word) == length && memcmp(words[i].word, at, length) == 0) {
                param->kind = words[i].kind > 0 ? words[i].kind : param->kind;
                param->effects |= words[i].effects;
            }
        }
        at += length;
    }
}

static void read_param(tapml_param *param, const char *key, const char *value)
{
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"dtype", &param->dtype},
                 {"shape", &param->shape},
                 {"layout", &param->layout},
                 {"region", &param->region},
                 {"domain", &param->domain}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (strcmp(texts[i].key, key) == 0) {
            *texts[i].text = value;
        }
    }
    if (strcmp(key, "kind") == 0 || strcmp(key, "effect") == 0) {
        read_kind(param, value);
    }
}

// Extents up to the end or a slash; T, P, R and C are symbols, in a concrete call 3.
static const char *
read_extents(const char *at, int64_t *values, struct affine *symbolic, uint32_t *rank)
{
    static const char symbols[] = "TPRC";
    *rank = 0;
    while (*at && *at != '/' && *rank < TAPML_MAX_RANK) {
        char *end = NULL;
        const char *symbol = strchr(symbols, *at);
        values[*rank] = symbol ? 3 : strtoll(at, &end, 10);
        symbolic[*rank] = affine_constant(symbol ? 0 : values[*rank]);
        if (symbol) {
            symbolic[*rank].factor[symbol - symbols] = 1;
        }
        at = symbol ? at + 1 : end;
        at += *at && *at != '/';
        ++*rank;
    }
    return at;
}

static void read_tensor(struct operand *operand, const char *value)
{
    struct affine ignored[TAPML_MAX_RANK];
    uint32_t stride_rank = 0;
    char word[16] = "";
    const size_t length = strcspn(value, " ");
    memcpy(word, value, length < sizeof(word) ? length : 0);
    operand->symbolic.dtype = operand->tensor.dtype = dtype_find(word);
    const char *at = value + length + strspn(value + length, " ");
    at = read_extents(at, operand->shape, operand->symbolic.shape, &operand->tensor.rank);
    operand->symbolic.rank = operand->tensor.rank;
    operand->tensor.shape = operand->tensor.rank > 0 ? operand->shape : NULL;
    if (*at == '/') {
        (void)read_extents(at + 1 + strspn(at + 1, " "), operand->stride, ignored, &stride_rank);
        operand->tensor.stride = operand->stride;
    }
}

static void read_argument(struct reading *reading, const char *key, const char *value)
{
    for (uint32_t i = 0; i < reading->op.n_params; i++) {
        if (!reading->params[i].name || strcmp(reading->params[i].name, key) != 0) {
            continue;
        }
        struct operand *operand = &reading->operands[i];
        operand->symbolic.is_present = 1;
        operand->symbolic.i = affine_constant(strtoll(value, NULL, 10));
        operand->tensor = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor)};
        reading->values[i] = (tapml_value){.kind = reading->params[i].kind, .count = 1};
        if (reading->params[i].kind == TAPML_P_I64 || reading->params[i].kind == TAPML_P_F64) {
            reading->values[i].u.i = operand->symbolic.i.constant;
            continue;
        }
        read_tensor(operand, value);
        operand->list[0] = &operand->tensor;
        reading->values[i].u.p = &operand->tensor;
        if (reading->params[i].kind == TAPML_P_TENSORS_IN) {
            reading->values[i].u.p = operand->list;
        }
    }
}

static tapml_param *begin_param(struct reading *reading, const char *name)
{
    if (reading->op.n_params == PARAMS_MAX) {
        return &reading->params[PARAMS_MAX - 1];
    }
    tapml_param *param = &reading->params[reading->op.n_params];
    *param = (tapml_param){.hdr = TAPML_HDR(tapml_param), .name = name};
    reading->list[reading->op.n_params++] = param;
    return param;
}

static void read_text(struct reading *reading, char *text)
{
    tapml_param *param = NULL;
    int is_call = 0;
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        char *equals = NULL;
        if (end) {
            *end = '\0';
        }
        if (line[0] == '[') {
            line[strcspn(line, "]")] = '\0';
            is_call = strcmp(line, "[call") == 0;
            param = strncmp(line, "[param.", 7) == 0 ? begin_param(reading, line + 7) : NULL;
        } else if ((equals = strstr(line, " = ")) != NULL) {
            *equals = '\0';
            if (is_call) {
                read_argument(reading, line, equals + 3);
            } else if (param) {
                read_param(param, line, equals + 3);
            } else {
                read_op(&reading->op, line, equals + 3);
            }
        }
        line = end ? end + 1 : NULL;
    }
}

// What the host asks of an op that it has taken in: the builder, a call, the costs.
static void ask(struct reading *reading, const struct compiled_op *schema)
{
    static struct inferred inferred;
    struct infer_argument arguments[PARAMS_MAX];
    const tapml_op *op = &reading->op;
    int64_t flops = 0;
    for (uint32_t i = 0; i < op->n_params; i++) {
        arguments[i] = reading->operands[i].symbolic;
        arguments[i].is_present |= op->params[i]->kind == TAPML_P_TENSOR_OUT;
    }
    (void)fuzz_refused(infer_op(schema, arguments));
    if (fuzz_refused(infer_call(schema, reading->values, &inferred))) {
        return;
    }
    if (schema->flops) {
        (void)fuzz_refused(expression_value(&inferred.scope, schema->flops, &flops));
    }
    (void)fuzz_refused(infer_domains(&inferred, reading->values, UINT32_MAX));
    for (uint32_t i = 0; i < op->n_params; i++) {
        if (reading->values[i].kind != TAPML_V_NONE && schema->params[i].region) {
            FUZZ_CHECK(0 <= inferred.regions[i].begin);
            FUZZ_CHECK(inferred.regions[i].begin <= inferred.regions[i].end);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct catalogue *catalogue = NULL;
    static struct reading reading; // Too large for the stack.
    fuzz_begin();
    struct arena *arena = arena_create();
    char *text = arena ? arena_new(arena, size + 1) : NULL;
    FUZZ_CHECK(text && catalogue_create(&catalogue) == TAPML_OK);
    if (size > 0) {
        memcpy(text, data, size);
    }
    reading = (struct reading){.arena = arena, .op = {.hdr = TAPML_HDR(tapml_op)}};
    reading.op.params = reading.list;
    read_text(&reading, text);
    struct catalogue_op added = {0};
    if (!fuzz_refused(catalogue_add(catalogue, &reading.op, "a stranger", &added))) {
        FUZZ_CHECK(catalogue_find(catalogue, reading.op.name, reading.op.version) == added.schema);
        FUZZ_CHECK(catalogue_add(catalogue, &reading.op, "another", &added) == TAPML_OK);
        FUZZ_CHECK(added.schema->op == &reading.op && added.lacks == 0);
        ask(&reading, added.schema);
    }
    catalogue_destroy(catalogue);
    arena_destroy(arena);
    fuzz_end();
    return 0;
}
