// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "graph/adapt.h"
#include "graph/source.h"
#include "graph/sum_table.h"
#include "model/weights.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <string.h>

enum { SCOPES_MAX = 16, LIST_MAX = 1 << 16 };

struct builder {
    tapml_object object; // First: the plugin's handle is the builder.
    struct draft draft;
    const struct checkpoint *checkpoint; // NULL: what is expected is recorded.
    int quantises_inputs;                // As the checkpoint says.

    char scope[DRAFT_NAME_MAX + 1]; // "layers.3/attn", or "".
    size_t scope_ends[SCOPES_MAX];  // Its length before each scope was opened.
    uint32_t scope_count;

    struct sum_table sums;
};

// A plugin may go on after a failure; the graph that is finished is not its own any more.
static tapml_status builder_of(tapml_object *object, struct builder **out_builder)
{
    struct builder *builder = (struct builder *)object;

    if (builder == NULL || builder->draft.arena == NULL) {
        return status_fail(TAPML_PRECONDITION, "there is no graph under construction");
    }
    *out_builder = builder;
    return TAPML_OK;
}

// Says of what, and in which scope, the message speaks.
static tapml_status
explain(const struct builder *builder, tapml_status status, const char *what, const char *name)
{
    name = name != NULL ? name : "";
    if (status == TAPML_OK || builder->scope[0] == '\0') {
        return status == TAPML_OK ? TAPML_OK : status_explain(status, "%s '%.99s'", what, name);
    }
    return status_explain(status, "in '%s': %s '%.99s'", builder->scope, what, name);
}

static int is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        const char c = *text;

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            strchr("_.-", c) == NULL) {
            return 0;
        }
    }
    return 1;
}

// Part of an instance: plans select instances by globs, so that names keep to plain letters.
static tapml_status check_name(const char *name)
{
    if (name == NULL || name[0] == '\0' || !is_plain(name)) {
        return status_fail(TAPML_INVALID, "a name is of letters, digits and '_.-'");
    }
    return TAPML_OK;
}

static tapml_status read_shape(const struct builder *builder,
                               const int64_t *shape,
                               uint32_t rank,
                               struct view *out_view)
{
    struct view view = {.rank = rank};

    if (rank > TAPML_MAX_RANK || (rank > 0 && shape == NULL)) {
        return status_fail(TAPML_INVALID, "a shape of at most %u axes is expected, found %u",
                           TAPML_MAX_RANK, rank);
    }
    for (uint32_t i = 0; i < rank; i++) {
        TAPML_TRY(sum_table_value(&builder->sums, shape[i], &view.shape[i]));
    }
    *out_view = view;
    return TAPML_OK;
}

static tapml_status
index_of(const struct builder *builder, tapml_graph_value id, uint32_t *out_index)
{
    if (id == 0 || id > builder->draft.value_count) {
        return status_fail(TAPML_INVALID, "the graph has no value %llu", (unsigned long long)id);
    }
    *out_index = (uint32_t)(id - 1);
    return TAPML_OK;
}

static tapml_status check_out(const void *out)
{
    return out != NULL ? TAPML_OK : status_fail(TAPML_INVALID, "there is no place for the result");
}

static tapml_status open_scope(struct builder *builder, const char *name)
{
    const size_t length = strlen(builder->scope);

    TAPML_TRY(check_name(name));
    if (builder->scope_count == SCOPES_MAX) {
        return status_fail(TAPML_INVALID, "more than %d scopes within one another", SCOPES_MAX);
    }
    if (length + 1 + strlen(name) > DRAFT_NAME_MAX) {
        return status_fail(TAPML_INVALID, "instances have at most %d bytes", DRAFT_NAME_MAX);
    }
    builder->scope_ends[builder->scope_count++] = length;
    snprintf(builder->scope + length, sizeof(builder->scope) - length, "%s%s",
             length > 0 ? "/" : "", name);
    return TAPML_OK;
}

static tapml_status scope_begin(tapml_object *graph, tapml_call *call, const char *name)
{
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    return explain(builder, open_scope(builder, name), "scope", name);
}

static tapml_status scope_end(tapml_object *graph, tapml_call *call)
{
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    if (builder->scope_count == 0) {
        return status_fail(TAPML_PRECONDITION, "no scope is open");
    }
    builder->scope[builder->scope_ends[--builder->scope_count]] = '\0';
    return TAPML_OK;
}

static tapml_status make_sum(struct builder *builder,
                             int64_t constant,
                             const int64_t *factors,
                             uint32_t n_factors,
                             int64_t *out_code)
{
    struct affine value = affine_constant(constant);

    TAPML_TRY(check_out(out_code));
    if (n_factors > AFFINE_SYMBOLS || (n_factors > 0 && factors == NULL)) {
        return status_fail(TAPML_INVALID, "%u factors, there are %d symbols", n_factors,
                           AFFINE_SYMBOLS);
    }
    for (uint32_t k = 0; k < n_factors; k++) {
        value.factor[k] = factors[k];
    }
    if (!view_is_bounded(&value)) {
        return status_fail(TAPML_INVALID, "a part is beyond %lld", (long long)VIEW_PART_MAX);
    }
    return sum_table_code(&builder->sums, &value, out_code);
}

static tapml_status sum(tapml_object *graph,
                        tapml_call *call,
                        int64_t constant,
                        const int64_t *factors,
                        uint32_t n_factors,
                        int64_t *out_code)
{
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    return explain(builder, make_sum(builder, constant, factors, n_factors, out_code), "sum",
                   "affine");
}

static tapml_status make_source(struct builder *builder,
                                const struct graph_value *value,
                                const int64_t *shape,
                                uint32_t rank,
                                tapml_graph_value *out_value)
{
    struct view view;
    uint32_t index = 0;

    TAPML_TRY(check_out(out_value));
    if (value->name == NULL && value->kind != GRAPH_CONSTANT) {
        return status_fail(TAPML_INVALID, "a name is expected");
    }
    TAPML_TRY(read_shape(builder, shape, rank, &view));
    TAPML_TRY(source_add(&builder->draft, builder->checkpoint, value, &view, &index));
    *out_value = index + UINT64_C(1);
    return TAPML_OK;
}

static tapml_status input(tapml_object *graph,
                          tapml_call *call,
                          const char *name,
                          uint32_t from,
                          uint32_t dtype,
                          const int64_t *shape,
                          uint32_t rank,
                          const double *fallback,
                          tapml_graph_value *out_value)
{
    const struct graph_value value = {.kind = GRAPH_INPUT,
                                      .name = name,
                                      .dtype = dtype,
                                      .from = from,
                                      .has_fallback = fallback != NULL,
                                      .fallback = fallback != NULL ? *fallback : 0};
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    return explain(builder, make_source(builder, &value, shape, rank, out_value), "input", name);
}

static tapml_status constant(tapml_object *graph,
                             tapml_call *call,
                             uint32_t dtype,
                             const int64_t *shape,
                             uint32_t rank,
                             const void *data,
                             tapml_graph_value *out_value)
{
    const struct graph_value value = {.kind = GRAPH_CONSTANT, .dtype = dtype, .data = data};
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    return explain(builder, make_source(builder, &value, shape, rank, out_value),
                   "constant of dtype", dtype_name(dtype));
}

static tapml_status weight(tapml_object *graph,
                           tapml_call *call,
                           const char *name,
                           const int64_t *shape,
                           uint32_t rank,
                           const char *fold,
                           tapml_graph_value *out_value)
{
    const struct graph_value value = {
        .kind = GRAPH_WEIGHT, .name = name, .dtype = TAPML_F32, .fold = fold};
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    return explain(builder, make_source(builder, &value, shape, rank, out_value), "tensor", name);
}

static tapml_status state(tapml_object *graph,
                          tapml_call *call,
                          const char *name,
                          uint32_t dtype,
                          const int64_t *shape,
                          uint32_t rank,
                          double initial,
                          tapml_graph_value *out_value)
{
    const struct graph_value value = {
        .kind = GRAPH_STATE, .name = name, .dtype = dtype, .initial = initial};
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    return explain(builder, make_source(builder, &value, shape, rank, out_value), "state", name);
}

static tapml_status read_list(const struct builder *builder,
                              const tapml_value *value,
                              struct graph_argument *out_argument)
{
    const uint64_t *ids = value->u.p;

    if (ids == NULL || value->count == 0 || value->count > LIST_MAX) {
        return status_fail(TAPML_INVALID, "%u values, expected 1 to %d", value->count, LIST_MAX);
    }

    uint32_t *values = arena_array(builder->draft.arena, value->count, sizeof(*values));

    if (values == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < value->count; i++) {
        TAPML_TRY(index_of(builder, ids[i], &values[i]));
    }
    *out_argument = (struct graph_argument){
        .kind = TAPML_P_TENSORS_IN, .count = value->count, .values = values};
    return TAPML_OK;
}

static tapml_status read_argument(const struct builder *builder,
                                  const tapml_param *param,
                                  const tapml_value *value,
                                  struct graph_argument *out_argument)
{
    const int is_tensor = param->kind == TAPML_P_TENSOR_IN || param->kind == TAPML_P_TENSOR_INOUT;

    *out_argument = (struct graph_argument){.kind = param->kind};
    if (value->kind == TAPML_V_NONE) {
        out_argument->kind = TAPML_V_NONE;
        return TAPML_OK;
    }
    if (is_tensor && value->kind == TAPML_V_ID) {
        return index_of(builder, value->u.id, &out_argument->value);
    }
    if (param->kind == TAPML_P_TENSORS_IN && value->kind == TAPML_V_IDS) {
        return read_list(builder, value, out_argument);
    }
    if (param->kind == TAPML_P_I64 && value->kind == TAPML_V_SYM) {
        return sum_table_value(&builder->sums, value->u.i, &out_argument->i);
    }
    if (param->kind == TAPML_P_I64 && value->kind == TAPML_P_I64) {
        out_argument->i = affine_constant(value->u.i);
        return view_is_bounded(&out_argument->i)
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "%lld is too large", (long long)value->u.i);
    }
    if (param->kind == TAPML_P_F64 && value->kind == TAPML_P_F64) {
        out_argument->d = value->u.d;
        return TAPML_OK;
    }
    return param->kind == TAPML_P_TENSOR_OUT && value->kind == TAPML_P_TENSOR_OUT
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "a value of kind 0x%x does not fit one of kind %u",
                             value->kind, param->kind);
}

static tapml_status
instance_of(const struct builder *builder, const char *name, char out_instance[DRAFT_NAME_MAX + 1])
{
    TAPML_TRY(check_name(name));

    const int length = snprintf(out_instance, DRAFT_NAME_MAX + 1, "%s%s%s", builder->scope,
                                builder->scope[0] != '\0' ? "/" : "", name);

    return length <= DRAFT_NAME_MAX
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "instances have at most %d bytes", DRAFT_NAME_MAX);
}

static tapml_status make_op(struct builder *builder,
                            const char *name,
                            const struct compiled_op *schema,
                            tapml_value *args,
                            uint32_t n_args)
{
    struct graph_argument arguments[COMPILED_PARAMS_MAX];
    const tapml_op *op = schema->op;
    char instance[DRAFT_NAME_MAX + 1];

    TAPML_TRY(instance_of(builder, name, instance));
    if (n_args != op->n_params || (n_args > 0 && args == NULL)) {
        return status_fail(TAPML_INVALID, "%s: %u arguments, expected %u", op->name, n_args,
                           op->n_params);
    }
    for (uint32_t p = 0; p < n_args; p++) {
        const tapml_status status = read_argument(builder, op->params[p], &args[p], &arguments[p]);

        if (status != TAPML_OK) {
            return status_explain(status, "%s: parameter '%s'", op->name, op->params[p]->name);
        }
    }
    TAPML_TRY(adapt_add_op(&builder->draft, builder->checkpoint, builder->quantises_inputs,
                           instance, schema, arguments));
    for (uint32_t p = 0; p < n_args; p++) {
        if (arguments[p].kind == TAPML_P_TENSOR_OUT) {
            args[p].u.id = arguments[p].value + UINT64_C(1);
        }
    }
    return TAPML_OK;
}

static tapml_status add_op(tapml_object *graph,
                           tapml_call *call,
                           const char *name,
                           const char *op_name,
                           uint32_t op_version,
                           tapml_value *args,
                           uint32_t n_args)
{
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));

    const struct compiled_op *schema =
        catalogue_find(builder->draft.catalogue, op_name, op_version);
    const tapml_status status =
        schema != NULL ? make_op(builder, name, schema, args, n_args)
                       : status_fail(TAPML_NOT_FOUND, "op '%.99s' version %u is unknown",
                                     op_name != NULL ? op_name : "", op_version);

    return explain(builder, status, "op", name);
}

// Begins every view: finds the builder, the value and how it lies.
static tapml_status begin_view(tapml_object *graph,
                               tapml_graph_value x,
                               struct builder **out_builder,
                               uint32_t *out_index,
                               struct view *out_view)
{
    TAPML_TRY(builder_of(graph, out_builder));

    const tapml_status status = index_of(*out_builder, x, out_index);

    if (status == TAPML_OK) {
        *out_view = draft_view(&(*out_builder)->draft.values[*out_index]);
    }
    return explain(*out_builder, status, "view of", "");
}

// Ends every view. `status` is that of making `view`, a look at value `of`.
static tapml_status end_view(struct builder *builder,
                             tapml_status status,
                             uint32_t of,
                             const struct view *view,
                             tapml_graph_value *out_value)
{
    uint32_t index = 0;

    status = status == TAPML_OK ? check_out(out_value) : status;
    status = status == TAPML_OK ? draft_add_view(&builder->draft, of, view, &index) : status;
    if (status == TAPML_OK) {
        *out_value = index + UINT64_C(1);
    }
    return explain(builder, status, "view of", builder->draft.values[of].name);
}

static tapml_status make_slice(
    const struct builder *builder, uint32_t axis, int64_t begin, int64_t end, struct view *view)
{
    struct affine first;
    struct affine last;

    TAPML_TRY(sum_table_value(&builder->sums, begin, &first));
    TAPML_TRY(sum_table_value(&builder->sums, end, &last));
    return view_slice(view, axis, &first, &last);
}

static tapml_status slice(tapml_object *graph,
                          tapml_call *call,
                          tapml_graph_value x,
                          uint32_t axis,
                          int64_t begin,
                          int64_t end,
                          tapml_graph_value *out_value)
{
    struct builder *builder = NULL;
    uint32_t of = 0;
    struct view view;

    TAPML_TRY(begin_view(graph, x, &builder, &of, &view));
    return end_view(builder, make_slice(builder, axis, begin, end, &view), of, &view, out_value);
}

// "<name>/copy", or "<name>/copy.2" and so on where one is there.
static tapml_status copy_for_reshape(struct builder *builder, uint32_t of, uint32_t *out_copy)
{
    const char *name = builder->draft.values[of].name;
    char instance[DRAFT_NAME_MAX + 32];
    uint32_t taken = 0;

    snprintf(instance, sizeof(instance), "%s/copy", name);
    for (unsigned n = 2; draft_find(&builder->draft, DRAFT_OP, instance, &taken); n++) {
        snprintf(instance, sizeof(instance), "%s/copy.%u", name, n);
    }
    return draft_add_copy(&builder->draft, instance, of, out_copy);
}

static tapml_status make_reshape(
    struct builder *builder, const int64_t *shape, uint32_t rank, uint32_t *of, struct view *view)
{
    struct view wanted;
    int fits = 0;

    TAPML_TRY(read_shape(builder, shape, rank, &wanted));
    TAPML_TRY(view_reshape(view, wanted.shape, rank, &fits));
    if (fits) {
        return TAPML_OK;
    }
    TAPML_TRY(copy_for_reshape(builder, *of, of));
    *view = draft_view(&builder->draft.values[*of]);
    return view_reshape(view, wanted.shape, rank, &fits);
}

static tapml_status reshape(tapml_object *graph,
                            tapml_call *call,
                            tapml_graph_value x,
                            const int64_t *shape,
                            uint32_t rank,
                            tapml_graph_value *out_value)
{
    struct builder *builder = NULL;
    uint32_t of = 0;
    struct view view;

    TAPML_TRY(begin_view(graph, x, &builder, &of, &view));

    const tapml_status status = make_reshape(builder, shape, rank, &of, &view);

    return end_view(builder, status, of, &view, out_value);
}

static tapml_status transpose(tapml_object *graph,
                              tapml_call *call,
                              tapml_graph_value x,
                              const uint32_t *axes,
                              uint32_t rank,
                              tapml_graph_value *out_value)
{
    struct builder *builder = NULL;
    uint32_t of = 0;
    struct view view;

    TAPML_TRY(begin_view(graph, x, &builder, &of, &view));

    const tapml_status status = axes != NULL || rank == 0
                                    ? view_transpose(&view, axes, rank)
                                    : status_fail(TAPML_INVALID, "there are no axes");

    return end_view(builder, status, of, &view, out_value);
}

static tapml_status
make_repeat(const struct builder *builder, uint32_t axis, int64_t times, struct view *view)
{
    struct affine extent;

    TAPML_TRY(sum_table_value(&builder->sums, times, &extent));
    return view_repeat(view, axis, &extent);
}

static tapml_status repeat(tapml_object *graph,
                           tapml_call *call,
                           tapml_graph_value x,
                           uint32_t axis,
                           int64_t times,
                           tapml_graph_value *out_value)
{
    struct builder *builder = NULL;
    uint32_t of = 0;
    struct view view;

    TAPML_TRY(begin_view(graph, x, &builder, &of, &view));
    return end_view(builder, make_repeat(builder, axis, times, &view), of, &view, out_value);
}

static const tapml_tensor *describe(tapml_object *graph, tapml_graph_value id)
{
    struct builder *builder = NULL;
    uint32_t index = 0;

    if (builder_of(graph, &builder) != TAPML_OK || index_of(builder, id, &index) != TAPML_OK) {
        return NULL;
    }

    const struct graph_value *value = &builder->draft.values[index];
    tapml_tensor *tensor = arena_new(builder->draft.arena, sizeof(*tensor));
    int64_t *shape = arena_array(builder->draft.arena, TAPML_MAX_RANK, sizeof(*shape));

    if (tensor == NULL || shape == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < value->rank; i++) {
        if (sum_table_code(&builder->sums, &value->shape[i], &shape[i]) != TAPML_OK) {
            return NULL;
        }
    }
    *tensor = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                             .dtype = value->dtype,
                             .rank = value->rank,
                             .shape = value->rank > 0 ? shape : NULL};
    return tensor;
}

static tapml_status make_output(struct builder *builder, const char *name, tapml_graph_value value)
{
    uint32_t index = 0;

    if (name == NULL) {
        return status_fail(TAPML_INVALID, "a name is expected");
    }
    TAPML_TRY(index_of(builder, value, &index));
    return draft_add_output(&builder->draft, name, index);
}

static tapml_status
output(tapml_object *graph, tapml_call *call, const char *name, tapml_graph_value value)
{
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    return explain(builder, make_output(builder, name, value), "output", name);
}

// The host destroys the builder; a plugin only borrows it.
static void release(tapml_object *object)
{
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_HOST_GRAPH) == 0 ? builder_table() : NULL;
}

tapml_status builder_create(const struct catalogue *catalogue,
                            tapml_object *weights,
                            struct builder **out_builder)
{
    static const tapml_object_vt vt = {
        .hdr = TAPML_HDR(tapml_object_vt), .release = release, .interface_of = interface_of};
    struct builder *builder = alloc_new(sizeof(*builder));

    if (builder == NULL) {
        return status_no_memory();
    }

    const tapml_status status = draft_init(&builder->draft, catalogue);

    if (status != TAPML_OK) {
        builder_destroy(builder);
        return status;
    }
    builder->object.vt = &vt;
    builder->checkpoint = weights != NULL ? weights_checkpoint(weights) : NULL;
    *out_builder = builder;
    return TAPML_OK;
}

void builder_destroy(struct builder *builder)
{
    if (builder != NULL) {
        draft_release(&builder->draft);
        sum_table_release(&builder->sums);
        alloc_free(builder);
    }
}

void builder_quantise_inputs(struct builder *builder)
{
    builder->quantises_inputs = builder->checkpoint != NULL;
}

tapml_object *builder_object(struct builder *builder)
{
    return &builder->object;
}

tapml_status builder_draft(tapml_object *graph, struct draft **out_draft)
{
    struct builder *builder = NULL;

    TAPML_TRY(builder_of(graph, &builder));
    *out_draft = &builder->draft;
    return TAPML_OK;
}

const tapml_host_graph *builder_table(void)
{
    static const tapml_host_graph table = {
        .hdr = TAPML_HDR(tapml_host_graph),
        .scope_begin = scope_begin,
        .scope_end = scope_end,
        .affine = sum,
        .input = input,
        .constant = constant,
        .weight = weight,
        .state = state,
        .op = add_op,
        .slice = slice,
        .reshape = reshape,
        .transpose = transpose,
        .repeat = repeat,
        .describe = describe,
        .output = output,
    };

    return &table;
}

tapml_status builder_finish(struct builder *builder, struct graph **out_graph)
{
    TAPML_TRY(builder_of(&builder->object, &builder));
    if (builder->scope_count > 0) {
        return status_fail(TAPML_INVALID, "scope '%s' is still open", builder->scope);
    }
    if (builder->draft.output_count == 0) {
        return status_fail(TAPML_INVALID, "the graph has no output");
    }
    TAPML_TRY(draft_check_used(&builder->draft));
    return draft_finish(&builder->draft, out_graph);
}
