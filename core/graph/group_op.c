// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/group_op.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/text.h"
#include "graph/view.h"
#include "schema/infer.h"
#include "tensor/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_BYTES = 48, NAME_BYTES = EXPRESSION_NAME_BYTES };

static const uint32_t plain_dtypes[] = {TAPML_F32, TAPML_F16, TAPML_BF16, TAPML_I32,
                                        TAPML_I64, TAPML_U8,  TAPML_F64};
enum { DTYPE_COUNT = sizeof(plain_dtypes) / sizeof(*plain_dtypes), ENCODED = DTYPE_COUNT };
static const char symbols[AFFINE_SYMBOLS] = {'T', 'P', 'R', 'C'};

// A value that ops of the group use; or a list of weights, which stays one.
struct member {
    char name[NAME_BYTES];
    uint32_t base;               // GRAPH_NONE: a list,
    struct graph_argument *list; // this one.
    uint32_t effects;            // WEIGHT, if it is one for all ops; states: what is done.
    uint32_t accepted;           // A bit for each of plain_dtypes, and ENCODED.
    int is_computed, is_border;  // By an op of the group; a parameter.
    uint32_t use_count;          // Of a state.
    int has_region;              // Of a state: not all of it.
    struct affine begin, end;
    uint32_t param; // Of the new op.
};

struct maker {
    const struct graph *graph;
    const struct group_range *range;
    const uint8_t *is_outside;
    struct arena *arena;
    uint32_t *found; // For each value: 1 more than the index of its member.
    struct member *members;
    uint32_t member_count;
    int is_used[AFFINE_SYMBOLS];   // In the text or at the borders;
    int is_number[AFFINE_SYMBOLS]; // an i64 parameter, as no shape binds it.
    struct text form;
    tapml_param params[COMPILED_PARAMS_MAX];
    uint32_t param_count;
};

// -- Texts -------------------------------------------------------------------------------------

// "2 * T + P + 1", as schema/expression.h reads it.
static void put_affine(struct text *text, const struct affine *value)
{
    int count = 0;
    for (int i = 0; i < AFFINE_SYMBOLS; i++) {
        if (value->factor[i] == 0) {
            continue;
        }
        text_append(text, count++ > 0 ? " + " : "");
        if (value->factor[i] != 1) {
            text_format(text, "%" PRId64 " * ", value->factor[i]);
        }
        text_format(text, "%c", symbols[i]);
    }
    if (count == 0 || value->constant != 0) {
        text_format(text, "%s%" PRId64, count > 0 ? " + " : "", value->constant);
    }
}

static void put_list(struct text *text, const struct affine *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        text_append(text, i > 0 ? ", " : "");
        put_affine(text, &values[i]);
    }
}

static void note_symbols(struct maker *maker, const struct affine *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (int s = 0; s < AFFINE_SYMBOLS; s++) {
            maker->is_used[s] |= values[i].factor[s] != 0;
        }
    }
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The instance of an op below that of the group; letters that a label does not have become '_'.
static void
label_of(const struct maker *maker, const struct graph_op *op, char out_label[LABEL_BYTES])
{
    (void)snprintf(out_label, LABEL_BYTES, "%s", op->instance + maker->range->prefix);
    for (char *at = out_label; *at; at++) {
        *at = is_letter(*at) || strchr("./-", *at) ? *at : '_';
    }
}

static int is_taken(const struct maker *maker, const char *name)
{
    for (uint32_t i = 0; i + 1 < maker->member_count; i++) {
        if (strcmp(maker->members[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

// Names a new member by the last parts of an instance and a parameter: "q_proj_w".
static void name_member(struct maker *maker, const struct graph_op *op, const char *param)
{
    struct member *member = &maker->members[maker->member_count - 1];
    char label[LABEL_BYTES], name[LABEL_BYTES + NAME_BYTES];
    label_of(maker, op, label);
    (void)snprintf(name, sizeof(name), "%s_%s", label, param);
    const size_t length = strlen(name);
    const size_t cut = length > NAME_BYTES - 5 ? length - (NAME_BYTES - 5) : 0;
    for (char *at = name; *at; at++) {
        *at = is_letter(*at) ? *at : '_';
    }
    const int is_word =
        (name[cut] >= 'a' && name[cut] <= 'z') || (name[cut] >= 'A' && name[cut] <= 'Z');
    (void)snprintf(member->name, NAME_BYTES, "%s%s", is_word ? "" : "v", name + cut);
    for (unsigned number = 2; is_taken(maker, member->name); number++) {
        (void)snprintf(member->name, NAME_BYTES, "%s%.*s_%u", is_word ? "" : "v", NAME_BYTES - 8,
                       name + cut, number);
    }
}

// -- Members -----------------------------------------------------------------------------------

static tapml_status refuse(const struct maker *maker, const struct graph_op *op, const char *why)
{
    return status_fail(TAPML_INVALID, "group '%s' cannot have %s (%s) in it: %s",
                       maker->range->name, op->instance, op->op->name, why);
}

static struct member *
add_member(struct maker *maker, uint32_t base, const struct graph_op *op, const char *param)
{
    struct member *member = &maker->members[maker->member_count++];
    *member = (struct member){
        .base = base, .effects = TAPML_E_WEIGHT, .accepted = (UINT32_C(2) << ENCODED) - 1};
    name_member(maker, op, param);
    if (base != GRAPH_NONE) {
        maker->found[base] = maker->member_count;
    }
    return member;
}

static struct member *member_of(const struct maker *maker, uint32_t value)
{
    const uint32_t found = maker->found[maker->graph->values[value].base];
    return found > 0 ? &maker->members[found - 1] : NULL;
}

static uint32_t accepted_by(const struct compiled_op *schema, uint32_t p, int is_view)
{
    const struct compiled_param *own = &schema->params[p];
    const struct compiled_param *like =
        own->dtype_like != COMPILED_NONE ? &schema->params[own->dtype_like] : own;
    uint32_t accepted = like->takes_encoded && !is_view ? UINT32_C(1) << ENCODED : 0;
    for (uint32_t i = 0; i < DTYPE_COUNT; i++) {
        accepted |= (uint32_t)compiled_takes(schema, p, plain_dtypes[i]) << i;
    }
    return accepted;
}

// Both ends of what two uses touch; all of the state where they cannot be compared.
static void unite(struct member *member, const struct affine *begin, const struct affine *end)
{
    struct affine more;
    if (!affine_equal(&member->begin, begin)) {
        member->has_region &= affine_is(&member->begin, 0) || affine_is(begin, 0);
        member->begin = affine_constant(0);
    }
    if (affine_subtract(end, &member->end, &more) != TAPML_OK || !affine_is_constant(&more)) {
        member->has_region = 0;
    } else if (more.constant > 0) {
        member->end = *end;
    }
}

// The arguments of an op as inference takes them.
static void describe_all(const struct graph *graph,
                         const struct graph_op *op,
                         struct infer_argument out_known[COMPILED_PARAMS_MAX])
{
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        const struct graph_argument *argument = &op->arguments[p];
        uint32_t value = GRAPH_NONE;
        if (argument->kind == TAPML_P_TENSORS_IN && argument->count > 0) {
            value = argument->values[0];
        } else if (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT) {
            value = argument->value;
        }
        out_known[p] = graph_describe(graph->values, argument, value);
    }
}

// What an op does with a state.
static void
note_state(struct maker *maker, const struct graph_op *op, uint32_t p, struct member *member)
{
    const int is_first = member->use_count++ == 0;
    const uint32_t kept = TAPML_E_STATE_READ | TAPML_E_STATE_WRITE;
    struct infer_argument known[COMPILED_PARAMS_MAX];
    struct affine begin, end;
    member->effects = (is_first ? 0 : member->effects) | (op->op->params[p]->effects & kept);
    describe_all(maker->graph, op, known);
    if (!op->schema->params[p].region ||
        infer_region(op->schema, known, p, &begin, &end) != TAPML_OK) {
        member->has_region = 0;
    } else if (is_first) {
        member->has_region = 1;
        member->begin = begin;
        member->end = end;
    } else {
        unite(member, &begin, &end);
    }
}

// Notes a tensor that an op uses.
static tapml_status
note_value(struct maker *maker, const struct graph_op *op, uint32_t p, uint32_t value)
{
    const struct graph_value *used = &maker->graph->values[value];
    const struct graph_value *base = &maker->graph->values[used->base];
    const tapml_param *param = op->op->params[p];
    const int is_view = used->base != value;
    struct member *member = member_of(maker, value);
    if (!member) {
        member = add_member(maker, used->base, op, param->name);
    }
    if (param->kind == TAPML_P_TENSOR_INOUT && base->kind != GRAPH_STATE) {
        return refuse(maker, op, "it changes what is no state");
    }
    if (is_view && (base->encoding || param->kind != TAPML_P_TENSOR_IN)) {
        return refuse(maker, op, "it takes a part of what is encoded, or writes one");
    }
    member->is_computed |= param->kind == TAPML_P_TENSOR_OUT;
    member->accepted &= accepted_by(op->schema, p, is_view);
    note_symbols(maker, used->shape, used->rank);
    note_symbols(maker, used->stride, used->rank);
    note_symbols(maker, &used->offset, 1);
    if (base->kind == GRAPH_STATE) {
        note_state(maker, op, p, member);
        return TAPML_OK;
    }
    member->effects &= param->effects & TAPML_E_WEIGHT;
    return TAPML_OK;
}

// A list of whole weights, such as experts, stays a list.
static int is_weight_list(const struct maker *maker, const struct graph_argument *argument)
{
    for (uint32_t i = 0; i < argument->count; i++) {
        const struct graph_value *value = &maker->graph->values[argument->values[i]];
        if (value->kind != GRAPH_WEIGHT && value->kind != GRAPH_CONSTANT) {
            return 0;
        }
    }
    return argument->kind == TAPML_P_TENSORS_IN && argument->count > 0;
}

static tapml_status note_argument(struct maker *maker, const struct graph_op *op, uint32_t p)
{
    struct graph_argument *argument = &op->arguments[p];
    if (is_weight_list(maker, argument)) {
        struct member *member = add_member(maker, GRAPH_NONE, op, op->op->params[p]->name);
        member->list = argument;
        member->accepted = accepted_by(op->schema, p, 0);
        member->effects = op->op->params[p]->effects & TAPML_E_WEIGHT;
        return TAPML_OK;
    }
    if (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT) {
        return note_value(maker, op, p, argument->value);
    }
    for (uint32_t i = 0; argument->kind == TAPML_P_TENSORS_IN && i < argument->count; i++) {
        TAPML_TRY(note_value(maker, op, p, argument->values[i]));
    }
    if (argument->kind == TAPML_P_I64) {
        note_symbols(maker, &argument->i, 1);
    }
    return TAPML_OK;
}

static tapml_status note_all(struct maker *maker)
{
    for (uint32_t i = maker->range->begin; i < maker->range->end; i++) {
        for (uint32_t p = 0; p < maker->graph->ops[i].op->n_params; p++) {
            TAPML_TRY(note_argument(maker, &maker->graph->ops[i], p));
        }
    }
    for (uint32_t i = 0; i < maker->member_count; i++) {
        struct member *member = &maker->members[i];
        member->is_border = !member->is_computed || maker->is_outside[member->base];
        if (member->has_region) {
            note_symbols(maker, &member->begin, 1);
            note_symbols(maker, &member->end, 1);
        }
    }
    return TAPML_OK;
}

// -- Parameters --------------------------------------------------------------------------------

// The order of parameters: what comes in, weights, states, what goes out.
static int rank_of(const struct maker *maker, const struct member *member)
{
    if (member->is_computed) {
        return 3;
    }
    if (member->base == GRAPH_NONE || (member->effects & TAPML_E_WEIGHT) != 0) {
        return 1;
    }
    return maker->graph->values[member->base].kind == GRAPH_STATE ? 2 : 0;
}

static const struct graph_value *first_value(const struct maker *maker, const struct member *member)
{
    const uint32_t value = member->list ? member->list->values[0] : member->base;
    return &maker->graph->values[maker->graph->values[value].base];
}

// Whether a shape binds a symbol: it stands alone in an axis before it stands in a sum.
static void bind_by(struct maker *maker, const struct graph_value *value, int *is_bound)
{
    for (uint32_t axis = 0; axis < value->rank; axis++) {
        const struct affine *extent = &value->shape[axis];
        for (int s = 0; s < AFFINE_SYMBOLS; s++) {
            struct affine alone = affine_constant(0);
            alone.factor[s] = 1;
            if (affine_equal(extent, &alone)) {
                is_bound[s] = 1;
            } else if (extent->factor[s] != 0 && !is_bound[s]) {
                maker->is_number[s] = 1;
            }
        }
    }
}

// The dtype of the value first, which an output has unless it is told.
static const char *dtype_text(struct maker *maker, const struct member *member)
{
    const struct graph_value *value = first_value(maker, member);
    struct text text;
    text_init(&text);
    text_append(&text, value->encoding ? "encoded" : dtype_name(value->dtype));
    for (uint32_t i = 0; i < DTYPE_COUNT; i++) {
        if ((member->accepted >> i & 1) != 0 &&
            (value->encoding || plain_dtypes[i] != value->dtype)) {
            text_format(&text, " %s", dtype_name(plain_dtypes[i]));
        }
    }
    text_append(&text,
                (member->accepted >> ENCODED & 1) != 0 && !value->encoding ? " encoded" : "");
    return text_keep(&text, maker->arena);
}

static const char *shape_text_of(struct maker *maker, const struct graph_value *value)
{
    struct text text;
    text_init(&text);
    put_list(&text, value->shape, value->rank);
    return text_keep(&text, maker->arena);
}

static const char *region_text(struct maker *maker, const struct member *member)
{
    struct text text;
    text_init(&text);
    put_affine(&text, &member->begin);
    text_append(&text, " .. ");
    put_affine(&text, &member->end);
    return text_keep(&text, maker->arena);
}

static uint32_t kind_of(const struct member *member)
{
    if (member->list) {
        return TAPML_P_TENSORS_IN;
    }
    if (member->is_computed) {
        return TAPML_P_TENSOR_OUT;
    }
    return (member->effects & TAPML_E_STATE_WRITE) != 0 ? TAPML_P_TENSOR_INOUT : TAPML_P_TENSOR_IN;
}

static tapml_status too_many(const struct maker *maker)
{
    return status_fail(
        TAPML_INVALID, "group '%s' from %s on has more than %d values at its borders",
        maker->range->name, maker->graph->ops[maker->range->begin].instance, COMPILED_PARAMS_MAX);
}

static tapml_status add_param(struct maker *maker, struct member *member)
{
    const struct graph_value *value = first_value(maker, member);
    if (maker->param_count == COMPILED_PARAMS_MAX) {
        return too_many(maker);
    }
    member->param = maker->param_count;
    tapml_param *param = &maker->params[maker->param_count++];
    *param = (tapml_param){
        .hdr = TAPML_HDR(tapml_param),
        .name = arena_text(maker->arena, member->name),
        .kind = kind_of(member),
        .effects = member->is_computed ? 0 : member->effects,
        .dtype = dtype_text(maker, member),
        .shape = shape_text_of(maker, value),
        .layout = "dense",
        .region = member->has_region ? region_text(maker, member) : NULL,
    };
    return param->name && param->dtype && param->shape && (!member->has_region || param->region)
               ? TAPML_OK
               : status_no_memory();
}

static tapml_status add_params(struct maker *maker)
{
    int is_bound[AFFINE_SYMBOLS] = {0};
    for (int rank = 0; rank <= 3; rank++) {
        for (uint32_t i = 0; i < maker->member_count; i++) {
            struct member *member = &maker->members[i];
            if (member->is_border && rank_of(maker, member) == rank) {
                bind_by(maker, first_value(maker, member), is_bound);
                note_symbols(maker, first_value(maker, member)->shape,
                             first_value(maker, member)->rank);
                TAPML_TRY(add_param(maker, member));
            }
        }
    }
    for (int s = 0; s < AFFINE_SYMBOLS; s++) {
        maker->is_number[s] |= maker->is_used[s] && !is_bound[s];
        if (!maker->is_number[s]) {
            continue;
        }
        if (maker->param_count == COMPILED_PARAMS_MAX) {
            return too_many(maker);
        }
        maker->params[maker->param_count++] =
            (tapml_param){.hdr = TAPML_HDR(tapml_param),
                          .name = arena_format(maker->arena, "%c", symbols[s]),
                          .kind = TAPML_P_I64};
    }
    return TAPML_OK;
}

// -- The plain form ----------------------------------------------------------------------------

static int is_dense_view(const struct graph_value *value)
{
    struct view view = {.rank = value->rank};
    int is_dense = affine_is(&value->offset, 0);
    memcpy(view.shape, value->shape, sizeof(view.shape));
    if (view_dense(&view) != TAPML_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < value->rank; i++) {
        is_dense &= affine_equal(&view.stride[i], &value->stride[i]);
    }
    return is_dense;
}

static void put_tensor(struct maker *maker, uint32_t value)
{
    const struct graph_value *used = &maker->graph->values[value];
    text_append(&maker->form, member_of(maker, value)->name);
    if (used->base == value) {
        return;
    }
    text_append(&maker->form, "{");
    put_list(&maker->form, used->shape, used->rank);
    if (!is_dense_view(used)) {
        text_append(&maker->form, " : ");
        put_list(&maker->form, used->stride, used->rank);
        text_append(&maker->form, " : ");
        put_affine(&maker->form, &used->offset);
    }
    text_append(&maker->form, "}");
}

static void put_tensors(struct maker *maker, const struct graph_argument *argument)
{
    for (uint32_t i = 0; i < maker->member_count; i++) {
        if (maker->members[i].list == argument) {
            text_append(&maker->form, maker->members[i].name);
            return;
        }
    }
    text_append(&maker->form, "[");
    for (uint32_t i = 0; i < argument->count; i++) {
        text_append(&maker->form, i > 0 ? ", " : "");
        put_tensor(maker, argument->values[i]);
    }
    text_append(&maker->form, "]");
}

static void put_argument(struct maker *maker, const struct graph_argument *argument)
{
    switch (argument->kind) {
    case TAPML_P_TENSORS_IN:
        put_tensors(maker, argument);
        break;
    case TAPML_P_I64:
        put_affine(&maker->form, &argument->i);
        break;
    case TAPML_P_F64:
        text_format(&maker->form, "%.17g", argument->d);
        break;
    default:
        put_tensor(maker, argument->value);
        break;
    }
}

static void put_call(struct maker *maker, const struct graph_op *op)
{
    char label[LABEL_BYTES];
    int count = 0;
    label_of(maker, op, label);
    text_append(&maker->form, maker->form.length > 0 ? "; " : "");
    text_format(&maker->form, "%s: %s@%u(", label, op->op->name, op->op->version);
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        if (op->arguments[p].kind == TAPML_V_NONE) {
            continue;
        }
        text_format(&maker->form, "%s%s = ", count++ > 0 ? ", " : "", op->op->params[p]->name);
        put_argument(maker, &op->arguments[p]);
    }
    text_append(&maker->form, ")");
}

// -- The op ------------------------------------------------------------------------------------

// "rms_norm + linear + linear"
static const char *title_of(const struct maker *maker)
{
    struct text text;
    text_init(&text);
    for (uint32_t i = maker->range->begin; i < maker->range->end; i++) {
        const char *name = maker->graph->ops[i].op->name;
        const char *dot = strrchr(name, '.');
        text_format(&text, "%s%s", i > maker->range->begin ? " + " : "", dot ? dot + 1 : name);
    }
    return text_keep(&text, maker->arena);
}

static int is_exact(const struct maker *maker)
{
    int is_exact = 1;
    for (uint32_t i = maker->range->begin; i < maker->range->end; i++) {
        is_exact &= strcmp(maker->graph->ops[i].op->tolerance, "exact") == 0;
    }
    return is_exact;
}

// Everything that makes the op is in its name, so that equal names are equal ops.
static const char *name_of(const struct maker *maker)
{
    struct hash_state *state = hash_begin();
    char digest[HASH_TEXT];
    if (!state) {
        return NULL;
    }
    hash_add(state, maker->form.data, maker->form.length + 1);
    for (uint32_t p = 0; p < maker->param_count; p++) {
        const tapml_param *param = &maker->params[p];
        const char *const texts[] = {param->name, param->dtype, param->shape, param->region};
        hash_add(state, &param->kind, sizeof(param->kind));
        hash_add(state, &param->effects, sizeof(param->effects));
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
            hash_add(state, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
        }
    }
    hash_text(hash_end(state), digest);
    return arena_format(maker->arena, "group.%s.%.8s", maker->range->name, digest);
}

static tapml_status make_op(const struct maker *maker, const tapml_op **out_op)
{
    tapml_op *op = arena_new(maker->arena, sizeof(*op));
    const size_t count = maker->param_count;
    tapml_param *params = arena_array(maker->arena, count + 1, sizeof(*params));
    const tapml_param **list = arena_array(maker->arena, count + 1, sizeof(*list));
    if (!op || !params || !list) {
        return status_no_memory();
    }
    for (size_t p = 0; p < count; p++) {
        params[p] = maker->params[p];
        list[p] = &params[p];
    }
    *op = (tapml_op){
        .hdr = TAPML_HDR(tapml_op),
        .name = name_of(maker),
        .version = 1,
        .n_params = (uint32_t)count,
        .params = list,
        .title = title_of(maker),
        .formula = "that of its plain form",
        .tolerance = is_exact(maker) ? "exact" : "reduction",
        .expands = arena_text(maker->arena, maker->form.data),
    };
    *out_op = op;
    return op->name && op->title && op->expands ? TAPML_OK : status_no_memory();
}

static tapml_status make_arguments(struct maker *maker, struct graph_argument **out_arguments)
{
    struct graph_argument *arguments =
        arena_array(maker->graph->arena, (size_t)maker->param_count + 1, sizeof(*arguments));
    if (!arguments) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < maker->member_count; i++) {
        const struct member *member = &maker->members[i];
        if (member->list) {
            arguments[member->param] = *member->list;
        } else if (member->is_border) {
            arguments[member->param] =
                (struct graph_argument){.kind = kind_of(member), .value = member->base};
        }
    }
    for (int s = 0; s < AFFINE_SYMBOLS; s++) {
        for (uint32_t p = 0; p < maker->param_count && maker->is_number[s]; p++) {
            if (maker->params[p].kind == TAPML_P_I64 && maker->params[p].name[0] == symbols[s]) {
                arguments[p] = (struct graph_argument){.kind = TAPML_P_I64};
                arguments[p].i.factor[s] = 1;
            }
        }
    }
    *out_arguments = arguments;
    return TAPML_OK;
}

// Tensors that the ops of the range name at most.
static size_t count_tensors(const struct graph *graph, const struct group_range *range)
{
    size_t count = 0;
    for (uint32_t i = range->begin; i < range->end; i++) {
        for (uint32_t p = 0; p < graph->ops[i].op->n_params; p++) {
            count += 1 + graph->ops[i].arguments[p].count;
        }
    }
    return count;
}

static tapml_status make(struct maker *maker, struct group_op *out_op)
{
    TAPML_TRY(note_all(maker));
    TAPML_TRY(add_params(maker));
    for (uint32_t i = maker->range->begin; i < maker->range->end; i++) {
        put_call(maker, &maker->graph->ops[i]);
    }
    TAPML_TRY(text_status(&maker->form));
    TAPML_TRY(make_op(maker, &out_op->op));
    return make_arguments(maker, &out_op->arguments);
}

tapml_status group_op_make(const struct graph *graph,
                           const struct group_range *range,
                           const uint8_t *is_outside,
                           struct arena *arena,
                           struct group_op *out_op)
{
    struct maker maker = {.graph = graph,
                          .range = range,
                          .is_outside = is_outside,
                          .arena = arena,
                          .found = alloc_array(graph->value_count, sizeof(*maker.found)),
                          .members =
                              alloc_array(count_tensors(graph, range) + 1, sizeof(*maker.members))};
    text_init(&maker.form);
    const tapml_status status =
        maker.found && maker.members ? make(&maker, out_op) : status_no_memory();
    text_release(&maker.form);
    alloc_free(maker.found);
    alloc_free(maker.members);
    return status;
}
