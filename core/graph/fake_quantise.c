// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/fake_quantise.h"

#include "base/assert.h"
#include "model/checkpoint.h"
#include "model/input_scheme.h"

#include <stdio.h>
#include <string.h>

// The parameters of fake_quantise 1, of linear 1 and of linear_experts 1, in their order.
enum { X, BLOCK, FORMAT, SCALING, LOW, HIGH, FACTOR, Y, PARAMS };
enum { PRODUCT_X, LINEAR_W, EXPERTS_W };

// Products with the same input stand near each other.
enum { LOOK_BACK = 64 };

// What is to be done to input `x` of a product.
struct product_input {
    uint32_t x;
    struct input_scheme scheme;
    int has_scheme;
};

static int is_op(const struct compiled_op *schema, const char *name)
{
    return strcmp(schema->op->name, name) == 0 && schema->op->version == 1;
}

// Adds what the checkpoint says of a weight, which may be a view of a part of it.
static tapml_status want(const struct draft *draft,
                         const struct checkpoint *checkpoint,
                         uint32_t weight,
                         int is_first,
                         struct product_input *input)
{
    const struct graph_value *value = &draft->values[draft->values[weight].base];
    const struct checkpoint_tensor *tensor =
        value->kind == GRAPH_WEIGHT ? checkpoint_find(checkpoint, value->name) : NULL;
    const struct input_scheme *scheme = tensor ? tensor->inputs : NULL;
    if (is_first && scheme) {
        input->has_scheme = 1;
        input->scheme = *scheme;
        return TAPML_OK;
    }
    if (!is_first &&
        (input->has_scheme ? !scheme || !input_scheme_join(&input->scheme, scheme) : !!scheme)) {
        return status_fail(TAPML_INVALID,
                           "tensor '%s': expected inputs that are quantised as those of the other "
                           "experts, found others",
                           value->name);
    }
    return TAPML_OK;
}

static tapml_status read_product(const struct draft *draft,
                                 const struct checkpoint *checkpoint,
                                 const struct compiled_op *schema,
                                 const struct graph_argument *arguments,
                                 struct product_input *input)
{
    input->x = arguments[PRODUCT_X].value;
    if (is_op(schema, "tapml.linear")) {
        return want(draft, checkpoint, arguments[LINEAR_W].value, 1, input);
    }
    const uint32_t count = is_op(schema, "tapml.linear_experts") ? arguments[EXPERTS_W].count : 0;
    for (uint32_t i = 0; i < count; i++) {
        TAPML_TRY(want(draft, checkpoint, arguments[EXPERTS_W].values[i], i == 0, input));
    }
    return TAPML_OK;
}

static void fill(const struct product_input *input, struct graph_argument arguments[PARAMS])
{
    const struct input_scheme *scheme = &input->scheme;
    const int64_t numbers[] = {scheme->block, scheme->format, scheme->scaling};
    const double reals[] = {scheme->low, scheme->high, scheme->factor};
    memset(arguments, 0, PARAMS * sizeof(*arguments));
    arguments[X] = (struct graph_argument){.kind = TAPML_P_TENSOR_IN, .value = input->x};
    arguments[Y] = (struct graph_argument){.kind = TAPML_P_TENSOR_OUT};
    for (int i = 0; i < 3; i++) {
        arguments[BLOCK + i] =
            (struct graph_argument){.kind = TAPML_P_I64, .i = affine_constant(numbers[i])};
        arguments[LOW + i] = (struct graph_argument){.kind = TAPML_P_F64, .d = reals[i]};
    }
}

// Whether an op does just this.
static int does(const struct graph_op *op, const struct graph_argument arguments[PARAMS])
{
    int is_same =
        is_op(op->schema, "tapml.fake_quantise") && op->arguments[X].value == arguments[X].value;
    for (int i = 0; is_same && i < 3; i++) {
        is_same = op->arguments[BLOCK + i].i.constant == arguments[BLOCK + i].i.constant &&
                  op->arguments[LOW + i].d == arguments[LOW + i].d;
    }
    return is_same;
}

// The value that such an op has made already, or GRAPH_NONE.
static uint32_t find(const struct draft *draft, const struct graph_argument arguments[PARAMS])
{
    const size_t end = draft->op_count;
    for (size_t i = end; i > 0 && end - i < LOOK_BACK; i--) {
        if (does(&draft->ops[i - 1], arguments)) {
            return draft->ops[i - 1].arguments[Y].value;
        }
    }
    return GRAPH_NONE;
}

static tapml_status make(struct draft *draft,
                         const char *instance,
                         struct graph_argument arguments[PARAMS],
                         uint32_t *out_value)
{
    char name[DRAFT_NAME_MAX + 8];
    const struct compiled_op *schema = catalogue_find(draft->catalogue, "tapml.fake_quantise", 1);
    if (!schema) {
        return status_fail(TAPML_NOT_FOUND, "op 'tapml.fake_quantise' version 1 is unknown");
    }
    ASSERT(schema->op->n_params == PARAMS);
    (void)snprintf(name, sizeof(name), "%s/input", instance);
    TAPML_TRY(draft_add_op(draft, name, schema, arguments));
    *out_value = arguments[Y].value;
    return TAPML_OK;
}

tapml_status fake_quantise_apply(struct draft *draft,
                                 const struct checkpoint *checkpoint,
                                 const char *instance,
                                 const struct compiled_op *schema,
                                 struct graph_argument *arguments)
{
    struct product_input input = {.x = GRAPH_NONE};
    struct graph_argument own[PARAMS];
    TAPML_TRY(read_product(draft, checkpoint, schema, arguments, &input));
    if (!input.has_scheme) {
        return TAPML_OK;
    }
    fill(&input, own);
    uint32_t value = find(draft, own);
    if (value == GRAPH_NONE) {
        TAPML_TRY(make(draft, instance, own, &value));
    }
    arguments[PRODUCT_X].value = value;
    return TAPML_OK;
}
