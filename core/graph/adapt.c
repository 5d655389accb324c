// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/adapt.h"

#include "base/arena.h"
#include "base/assert.h"
#include "graph/fake_quantise.h"
#include "graph/source.h"
#include "model/checkpoint.h"

#include <stdio.h>
#include <string.h>

// The parameters of linear 1, linear_experts 1, embed 1, scale 1 and add 1, in their order.
enum { LINEAR_X, LINEAR_W, LINEAR_B, LINEAR_TRANSPOSED, LINEAR_Y, LINEAR_PARAMS };
enum {
    EXPERTS_X,
    EXPERTS_CHOSEN,
    EXPERTS_W,
    EXPERTS_B,
    EXPERTS_TRANSPOSED,
    EXPERTS_Y,
    EXPERTS_PARAMS
};
enum { EMBED_TABLE, EMBED_IDS, EMBED_OFFSET, EMBED_Y, EMBED_PARAMS };
enum { SCALE_X, SCALE_FACTOR, SCALE_Y, SCALE_PARAMS };
enum { ADD_A, ADD_B, ADD_Y, ADD_PARAMS };

// A product that is about to be adapted. Each list has one value for each weight.
struct adapting {
    struct draft *draft;
    const struct checkpoint *checkpoint;
    const char *instance;
    const uint32_t *weights;
    uint32_t count; // 1, unless of experts.
    int is_transposed;
    uint32_t *down, *up;
    double factor;
    int is_beside; // It is a change of the weight's own shape, and there is no `up`.
};

static int is_op(const struct compiled_op *schema, const char *name)
{
    return strcmp(schema->op->name, name) == 0 && schema->op->version == 1;
}

static struct graph_argument value_in(uint32_t value)
{
    return (struct graph_argument){.kind = TAPML_P_TENSOR_IN, .value = value};
}

static struct graph_argument values_in(const uint32_t *values, uint32_t count)
{
    return (struct graph_argument){.kind = TAPML_P_TENSORS_IN, .count = count, .values = values};
}

static const struct graph_argument no_tensor = {.kind = TAPML_V_NONE};
static const struct graph_argument output = {.kind = TAPML_P_TENSOR_OUT};

// -- The weights -------------------------------------------------------------------------------

// The tensor of an adapter as a weight of the graph.
static tapml_status
add_weight(const struct adapting *adapting, const char *name, uint32_t *out_value)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(adapting->checkpoint, name);
    const struct graph_value value = {.kind = GRAPH_WEIGHT, .name = name, .dtype = TAPML_F32};
    struct view view = {.rank = 2};
    ASSERT(tensor && tensor->tensor.rank == 2); // Checked by model/adapter.
    view.shape[0] = affine_constant(tensor->tensor.shape[0]);
    view.shape[1] = affine_constant(tensor->tensor.shape[1]);
    return source_add(adapting->draft, adapting->checkpoint, &value, &view, out_value);
}

static int is_constant_view(const struct graph_value *value)
{
    int is_constant = value->rank == 2 && affine_is_constant(&value->offset);
    for (uint32_t i = 0; i < value->rank && is_constant; i++) {
        is_constant = affine_is_constant(&value->shape[i]) && affine_is_constant(&value->stride[i]);
    }
    return is_constant;
}

// The rows of B, `rank` wide, for the outputs that a product reads of its weight.
static tapml_status part_of(const struct adapting *adapting,
                            const struct graph_value *weight,
                            const struct graph_value *whole,
                            int64_t rank,
                            uint32_t *up)
{
    const int in = adapting->is_transposed ? 0 : 1, out = 1 - in;
    const int is_matrix = is_constant_view(weight) && whole->rank == 2;
    // Elements of the weight from one output to the next, and from one input to the next.
    const int64_t step = is_matrix ? (adapting->is_transposed ? 1 : whole->shape[1].constant) : 0;
    const int64_t across = is_matrix ? whole->stride[in].constant : 0;
    if (!is_matrix || weight->shape[in].constant != whole->shape[in].constant ||
        weight->stride[in].constant != across || weight->stride[out].constant % step != 0 ||
        weight->offset.constant % step != 0) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "tensor '%s': its adapter cannot follow the part of it that a product "
                           "reads",
                           whole->name);
    }
    struct view view = {.rank = 2,
                        .offset = affine_constant(weight->offset.constant / step * rank)};
    view.shape[0] = weight->shape[out];
    view.shape[1] = affine_constant(rank);
    view.stride[0] = affine_constant(weight->stride[out].constant / step * rank);
    view.stride[1] = affine_constant(1);
    return draft_add_view(adapting->draft, *up, &view, up);
}

static const struct checkpoint_adapter *adapter_of(const struct adapting *adapting, uint32_t weight)
{
    const struct draft *draft = adapting->draft;
    const struct graph_value *whole = &draft->values[draft->values[weight].base];
    const struct checkpoint_tensor *tensor =
        whole->kind == GRAPH_WEIGHT ? checkpoint_find(adapting->checkpoint, whole->name) : NULL;
    return tensor ? tensor->adapter : NULL;
}

static tapml_status add_one(struct adapting *adapting, uint32_t index)
{
    const uint32_t weight = adapting->weights[index];
    const struct checkpoint_adapter *adapter = adapter_of(adapting, weight);
    if (!adapter || adapter->factor != adapting->factor ||
        (adapter->up == NULL) != adapting->is_beside) {
        return status_fail(TAPML_INVALID,
                           "tensor '%s': expected an adapter as the other experts of the product "
                           "have, found %s",
                           adapting->draft->values[weight].name,
                           adapter ? "one with another factor" : "none");
    }
    TAPML_TRY(add_weight(adapting, adapter->down, &adapting->down[index]));
    const struct graph_value value = adapting->draft->values[weight];
    if (adapting->is_beside) {
        return value.base == weight && !adapting->is_transposed
                   ? TAPML_OK
                   : status_fail(TAPML_UNIMPLEMENTED,
                                 "tensor '%s': expected a product of all of it, as [out, in], for "
                                 "the change beside it, found one of a part or as [in, out]",
                                 adapter->weight);
    }
    TAPML_TRY(add_weight(adapting, adapter->up, &adapting->up[index]));
    if (value.base == weight) {
        return TAPML_OK;
    }
    const struct graph_value whole = adapting->draft->values[value.base];
    return part_of(adapting, &value, &whole, adapter->rank, &adapting->up[index]);
}

// Finds the weights of a product, and which of them has an adapter; `*out_has` is 0 if none has.
static tapml_status find(struct adapting *adapting, int *out_has)
{
    const struct checkpoint_adapter *first = NULL;
    for (uint32_t i = 0; i < adapting->count && !first; i++) {
        first = adapter_of(adapting, adapting->weights[i]);
    }
    *out_has = first != NULL;
    if (!first) {
        return TAPML_OK;
    }
    struct arena *arena = adapting->draft->arena;
    adapting->factor = first->factor;
    adapting->is_beside = !first->up;
    adapting->down = arena_array(arena, adapting->count, sizeof(*adapting->down));
    adapting->up = arena_array(arena, adapting->count, sizeof(*adapting->up));
    tapml_status status = adapting->down && adapting->up ? TAPML_OK : status_no_memory();
    for (uint32_t i = 0; i < adapting->count && status == TAPML_OK; i++) {
        status = add_one(adapting, i);
    }
    return status;
}

// -- The ops -----------------------------------------------------------------------------------

// Adds an op "<instance>/<end>", whose output is its last argument.
static tapml_status add_op(const struct adapting *adapting,
                           const char *end,
                           const struct compiled_op *schema,
                           struct graph_argument *arguments,
                           uint32_t count)
{
    char name[DRAFT_NAME_MAX + 16];
    ASSERT(schema->op->n_params == count);
    (void)snprintf(name, sizeof(name), "%s/%s", adapting->instance, end);
    return draft_add_op(adapting->draft, name, schema, arguments);
}

static tapml_status
find_op(const struct adapting *adapting, const char *name, const struct compiled_op **out_schema)
{
    *out_schema = catalogue_find(adapting->draft->catalogue, name, 1);
    return *out_schema ? TAPML_OK
                       : status_fail(TAPML_NOT_FOUND, "op '%s' version 1 is unknown", name);
}

// One of the two products, of the same op as that which is adapted.
static tapml_status add_product(const struct adapting *adapting,
                                const char *end,
                                const struct compiled_op *schema,
                                const uint32_t *weights,
                                const struct graph_argument *chosen,
                                uint32_t *x)
{
    const struct graph_argument plain = {.kind = TAPML_P_I64, .i = affine_constant(0)};
    if (chosen) {
        struct graph_argument arguments[EXPERTS_PARAMS] = {
            value_in(*x), *chosen, values_in(weights, adapting->count), no_tensor, plain, output};
        TAPML_TRY(add_op(adapting, end, schema, arguments, EXPERTS_PARAMS));
        *x = arguments[EXPERTS_Y].value;
        return TAPML_OK;
    }
    struct graph_argument arguments[LINEAR_PARAMS] = {value_in(*x), value_in(weights[0]), no_tensor,
                                                      plain, output};
    TAPML_TRY(add_op(adapting, end, schema, arguments, LINEAR_PARAMS));
    *x = arguments[LINEAR_Y].value;
    return TAPML_OK;
}

static tapml_status add_scale(const struct adapting *adapting, uint32_t *x)
{
    const struct compiled_op *schema = NULL;
    struct graph_argument arguments[SCALE_PARAMS] = {
        value_in(*x), {.kind = TAPML_P_F64, .d = adapting->factor}, output};
    if (adapting->factor == 1) {
        return TAPML_OK;
    }
    TAPML_TRY(find_op(adapting, "tapml.scale", &schema));
    TAPML_TRY(add_op(adapting, adapting->is_beside ? "delta_scale" : "lora_scale", schema,
                     arguments, SCALE_PARAMS));
    *x = arguments[SCALE_Y].value;
    return TAPML_OK;
}

static tapml_status add_sum(const struct adapting *adapting, uint32_t change, uint32_t *y)
{
    const struct compiled_op *schema = NULL;
    struct graph_argument arguments[ADD_PARAMS] = {value_in(*y), value_in(change), output};
    TAPML_TRY(find_op(adapting, "tapml.add", &schema));
    TAPML_TRY(
        add_op(adapting, adapting->is_beside ? "delta" : "lora", schema, arguments, ADD_PARAMS));
    *y = arguments[ADD_Y].value;
    return TAPML_OK;
}

// Adds the rows of the change beside a table. What an adapter has for one is of its products.
static tapml_status apply_to_rows(struct draft *draft,
                                  const struct checkpoint *checkpoint,
                                  const char *instance,
                                  const struct compiled_op *schema,
                                  struct graph_argument *arguments)
{
    struct adapting adapting = {.draft = draft,
                                .checkpoint = checkpoint,
                                .instance = instance,
                                .weights = &arguments[EMBED_TABLE].value,
                                .count = 1};
    const struct checkpoint_adapter *adapter = adapter_of(&adapting, arguments[EMBED_TABLE].value);
    int has = 0;
    if (!adapter || adapter->up) {
        return TAPML_OK;
    }
    TAPML_TRY(find(&adapting, &has));
    struct graph_argument rows[EMBED_PARAMS] = {value_in(adapting.down[0]), arguments[EMBED_IDS],
                                                arguments[EMBED_OFFSET], output};
    TAPML_TRY(add_op(&adapting, "delta_w", schema, rows, EMBED_PARAMS));
    uint32_t change = rows[EMBED_Y].value;
    TAPML_TRY(add_scale(&adapting, &change));
    return add_sum(&adapting, change, &arguments[EMBED_Y].value);
}

// Adds what the adapter of a product adds to it, if there is one; `x` is the input as it came.
static tapml_status apply(struct draft *draft,
                          const struct checkpoint *checkpoint,
                          const char *instance,
                          const struct compiled_op *schema,
                          uint32_t x,
                          struct graph_argument *arguments)
{
    const int is_of_experts = is_op(schema, "tapml.linear_experts");
    const struct graph_argument *weights = &arguments[is_of_experts ? EXPERTS_W : LINEAR_W];
    int has = 0;
    if (is_op(schema, "tapml.embed")) {
        return apply_to_rows(draft, checkpoint, instance, schema, arguments);
    }
    if (!is_of_experts && !is_op(schema, "tapml.linear")) {
        return TAPML_OK;
    }
    struct adapting adapting = {
        .draft = draft,
        .checkpoint = checkpoint,
        .instance = instance,
        .weights = is_of_experts ? weights->values : &weights->value,
        .count = is_of_experts ? weights->count : 1,
        .is_transposed =
            arguments[is_of_experts ? EXPERTS_TRANSPOSED : LINEAR_TRANSPOSED].i.constant != 0,
    };
    TAPML_TRY(find(&adapting, &has));
    if (!has) {
        return TAPML_OK;
    }
    const struct graph_argument *chosen = is_of_experts ? &arguments[EXPERTS_CHOSEN] : NULL;
    uint32_t *y = &arguments[is_of_experts ? EXPERTS_Y : LINEAR_Y].value;
    TAPML_TRY(add_product(&adapting, adapting.is_beside ? "delta_w" : "lora_a", schema,
                          adapting.down, chosen, &x));
    if (!adapting.is_beside) {
        TAPML_TRY(add_product(&adapting, "lora_b", schema, adapting.up, chosen, &x));
    }
    TAPML_TRY(add_scale(&adapting, &x));
    return add_sum(&adapting, x, y);
}

tapml_status adapt_add_op(struct draft *draft,
                          const struct checkpoint *checkpoint,
                          int quantises_inputs,
                          const char *instance,
                          const struct compiled_op *schema,
                          struct graph_argument *arguments)
{
    const int has_input = schema->op->n_params > 0;
    const uint32_t x = has_input ? arguments[0].value : GRAPH_NONE;
    if (checkpoint && quantises_inputs) {
        TAPML_TRY(fake_quantise_apply(draft, checkpoint, instance, schema, arguments));
    }
    const int is_rounded = has_input && arguments[0].value != x;
    TAPML_TRY(draft_add_op(draft, instance, schema, arguments));
    return checkpoint && has_input ? apply(draft, checkpoint, instance, schema,
                                           is_rounded ? x : arguments[0].value, arguments)
                                   : TAPML_OK;
}

// Whether what is beside a weight is added to what an op makes of it.
static int is_adapted(const struct compiled_op *schema)
{
    return is_op(schema, "tapml.linear") || is_op(schema, "tapml.linear_experts") ||
           is_op(schema, "tapml.embed");
}

static tapml_status check_reader(const struct graph *graph,
                                 const struct checkpoint *checkpoint,
                                 const struct graph_op *op,
                                 uint32_t value)
{
    const struct graph_value *base = &graph->values[graph->values[value].base];
    const struct checkpoint_tensor *tensor =
        base->kind == GRAPH_WEIGHT ? checkpoint_find(checkpoint, base->name) : NULL;
    return !tensor || !tensor->adapter || tensor->adapter->up || is_adapted(op->schema)
               ? TAPML_OK
               : status_fail(
                     TAPML_UNIMPLEMENTED,
                     "tensor '%s': expected products alone of a weight with a change beside "
                     "it, found '%s' (%s)",
                     base->name, op->instance, op->op->name);
}

static tapml_status check_readers(const struct graph *graph, const struct checkpoint *checkpoint)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];
        for (uint32_t k = 0; k < op->op->n_params; k++) {
            const struct graph_argument *argument = &op->arguments[k];
            if (argument->kind == TAPML_P_TENSOR_IN) {
                TAPML_TRY(check_reader(graph, checkpoint, op, argument->value));
            }
            for (uint32_t n = 0; argument->kind == TAPML_P_TENSORS_IN && n < argument->count; n++) {
                TAPML_TRY(check_reader(graph, checkpoint, op, argument->values[n]));
            }
        }
    }
    return TAPML_OK;
}

tapml_status adapt_check_used(const struct graph *graph, const struct checkpoint *checkpoint)
{
    TAPML_TRY(check_readers(graph, checkpoint));
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_adapter *adapter = checkpoint_at(checkpoint, i)->adapter;
        if (adapter && graph_find_value(graph, GRAPH_WEIGHT, adapter->down) == GRAPH_NONE) {
            return status_fail(TAPML_INVALID,
                               "adapter: module '%s': expected a matrix product of the model with "
                               "weight '%s', found none",
                               adapter->module, adapter->weight);
        }
    }
    return TAPML_OK;
}
