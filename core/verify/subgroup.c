// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/subgroup.h"

#include "base/arena.h"
#include "base/text.h"
#include "tensor/dtype.h"

#include <inttypes.h>
#include <string.h>

// How the calls of the range use a value of the form, as bits.
enum { USE_READ = 1, USE_WRITTEN = 2, USE_OUTSIDE = 4 };

struct dividing {
    const struct plain_frame *frame;
    const struct inferred *inferred;
    const struct subgroup_range *range;
    struct catalogue *catalogue;
    struct arena *arena;
    uint8_t uses[PLAIN_VALUES_MAX]; // Of each value.
    tapml_param params[COMPILED_PARAMS_MAX];
    uint32_t param_count;
    const char *part_name;
};

static const struct plain_form *form_of(const struct dividing *dividing)
{
    return dividing->frame->form;
}

static const tapml_op *op_of(const struct dividing *dividing)
{
    return dividing->frame->form->schema->op;
}

// -- Uses --------------------------------------------------------------------------------------

static void note_call(struct dividing *dividing, uint32_t index)
{
    const struct plain_call *call = &form_of(dividing)->calls[index];
    const int is_inside = index >= dividing->range->begin && index < dividing->range->end;
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        const struct plain_argument *argument = &call->arguments[p];
        const int is_output = call->schema->params[p].kind == TAPML_P_TENSOR_OUT;
        const int use = !is_inside ? USE_OUTSIDE : is_output ? USE_WRITTEN : USE_READ;
        for (uint32_t i = 0; i < argument->count; i++) {
            dividing->uses[argument->tensors[i].value] |= (uint8_t)use;
        }
        if (argument->param != COMPILED_NONE && is_inside && argument->kind != PLAIN_ABSENT) {
            dividing->uses[argument->param] |= USE_READ;
        }
    }
}

// An output of the op is used outside, whoever writes it.
static void note_all(struct dividing *dividing)
{
    for (uint32_t i = 0; i < form_of(dividing)->call_count; i++) {
        note_call(dividing, i);
    }
    for (uint32_t p = 0; p < op_of(dividing)->n_params; p++) {
        if (op_of(dividing)->params[p]->kind == TAPML_P_TENSOR_OUT) {
            dividing->uses[p] |= USE_OUTSIDE;
        }
    }
}

// -- Parameters --------------------------------------------------------------------------------

static tapml_status add_param(struct dividing *dividing, const tapml_param *param)
{
    if (dividing->param_count == COMPILED_PARAMS_MAX) {
        return status_fail(TAPML_UNIMPLEMENTED, "a part of '%s' has more than %d parameters",
                           op_of(dividing)->name, COMPILED_PARAMS_MAX);
    }
    dividing->params[dividing->param_count++] = *param;
    return param->name && (param->kind >= TAPML_P_I64 || (param->shape && param->dtype))
               ? TAPML_OK
               : status_no_memory();
}

static const char *numbers_text(struct dividing *dividing, const int64_t *numbers, uint32_t count)
{
    struct text text;
    text_init(&text);
    for (uint32_t i = 0; i < count; i++) {
        text_format(&text, "%s%" PRId64, i > 0 ? ", " : "", numbers[i]);
    }
    return text_keep(&text, dividing->arena);
}

// The dtype that it has in the call, then the others that its calls take for it.
static const char *dtype_text(struct dividing *dividing, const struct plain_temporary *temporary)
{
    struct text text;
    text_init(&text);
    text_append(&text, dtype_name(temporary->tensor.dtype));
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        const struct activation_type *type = activation_type((enum activation)i);
        if ((temporary->mark & activation_bit((enum activation)i)) != 0 && type->is_reduced &&
            type->dtype != temporary->tensor.dtype) {
            text_format(&text, " %s", type->name);
        }
    }
    return text_keep(&text, dividing->arena);
}

static tapml_status add_temporary(struct dividing *dividing, uint32_t value, uint32_t kind)
{
    const struct plain_temporary *temporary =
        &dividing->frame->temporaries[value - op_of(dividing)->n_params];
    return add_param(dividing, &(tapml_param){
                                   .hdr = TAPML_HDR(tapml_param),
                                   .name = form_of(dividing)->values[value].name,
                                   .kind = kind,
                                   .dtype = dtype_text(dividing, temporary),
                                   .shape = numbers_text(dividing, temporary->tensor.shape,
                                                         temporary->tensor.rank),
                                   .layout = "dense",
                               });
}

// The text of a parameter, where that is the name of another one.
static const tapml_param *like_of(const tapml_op *op, const char *text)
{
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (strcmp(op->params[p]->name, text) == 0) {
            return op->params[p];
        }
    }
    return NULL;
}

// A parameter of the op. What it has in common with another one is written out; an output of the
// op that was written before the range comes in.
static tapml_status add_own(struct dividing *dividing, uint32_t value, uint32_t kind)
{
    tapml_param param = *op_of(dividing)->params[value];
    const tapml_param *dtype = param.dtype ? like_of(op_of(dividing), param.dtype) : NULL;
    const tapml_param *shape = param.shape ? like_of(op_of(dividing), param.shape) : NULL;
    param.kind = kind;
    param.dtype = dtype ? dtype->dtype : param.dtype;
    param.shape = shape ? shape->shape : param.shape;
    param.domain = NULL;
    return add_param(dividing, &param);
}

static tapml_status add_value(struct dividing *dividing, uint32_t value)
{
    const unsigned use = dividing->uses[value];
    const uint32_t first = op_of(dividing)->n_params;
    if ((use & (USE_READ | USE_WRITTEN)) == 0 ||
        ((use & USE_WRITTEN) != 0 && (use & USE_OUTSIDE) == 0)) {
        return TAPML_OK; // Not of the range, or known to it alone.
    }
    if (value >= first) {
        return add_temporary(dividing, value,
                             (use & USE_WRITTEN) != 0 ? TAPML_P_TENSOR_OUT : TAPML_P_TENSOR_IN);
    }
    const uint32_t kind = op_of(dividing)->params[value]->kind;
    const int is_read = kind == TAPML_P_TENSOR_OUT && (use & USE_WRITTEN) == 0;
    return kind == TAPML_P_I64 ? TAPML_OK
                               : add_own(dividing, value, is_read ? TAPML_P_TENSOR_IN : kind);
}

// All symbols of the op are numbers of the part.
static tapml_status add_symbols(struct dividing *dividing)
{
    const struct expression_scope *scope = &dividing->inferred->scope;
    for (uint32_t i = 0; i < scope->names->count; i++) {
        if (scope->symbols[i].is_bound && scope->symbols[i].axis_count > 0) {
            return status_fail(TAPML_UNIMPLEMENTED, "'%s' of '%s' stands for several axes",
                               scope->names->names[i], op_of(dividing)->name);
        }
        if (scope->symbols[i].is_bound) {
            TAPML_TRY(add_param(dividing, &(tapml_param){.hdr = TAPML_HDR(tapml_param),
                                                         .name = scope->names->names[i],
                                                         .kind = TAPML_P_I64}));
        }
    }
    return TAPML_OK;
}

static tapml_status add_params(struct dividing *dividing)
{
    for (uint32_t value = 0; value < form_of(dividing)->value_count; value++) {
        TAPML_TRY(add_value(dividing, value));
    }
    return add_symbols(dividing);
}

// -- Ops ---------------------------------------------------------------------------------------

static void
put_calls(const struct dividing *dividing, uint32_t begin, uint32_t end, struct text *text)
{
    for (uint32_t i = begin; i < end; i++) {
        const struct plain_call *call = &form_of(dividing)->calls[i];
        text_append(text, text->length > 0 ? "; " : "");
        text_append_bytes(text, call->text, call->length);
    }
}

static void put_part(const struct dividing *dividing, struct text *text)
{
    text_format(text, "%s%s(", text->length > 0 ? "; " : "", dividing->part_name);
    for (uint32_t p = 0; p < dividing->param_count; p++) {
        text_format(text, "%s%s = %s", p > 0 ? ", " : "", dividing->params[p].name,
                    dividing->params[p].name);
    }
    text_append(text, ")");
}

static tapml_status
add_op(struct dividing *dividing, const tapml_op *op, const struct compiled_op **out_schema)
{
    struct catalogue_op found = {0};
    if (!op->name || !op->expands) {
        return status_no_memory();
    }
    TAPML_TRY(catalogue_add(dividing->catalogue, op, "a part of a group", &found));
    *out_schema = found.schema;
    return TAPML_OK;
}

static tapml_status make_part(struct dividing *dividing, const struct compiled_op **out_part)
{
    const size_t count = dividing->param_count;
    tapml_op *op = arena_new(dividing->arena, sizeof(*op));
    tapml_param *params = arena_array(dividing->arena, count + 1, sizeof(*params));
    const tapml_param **list = arena_array(dividing->arena, count + 1, sizeof(*list));
    struct text text;
    if (!op || !params || !list) {
        return status_no_memory();
    }
    for (size_t p = 0; p < count; p++) {
        params[p] = dividing->params[p];
        list[p] = &params[p];
    }
    text_init(&text);
    put_calls(dividing, dividing->range->begin, dividing->range->end, &text);
    *op = (tapml_op){.hdr = TAPML_HDR(tapml_op),
                     .name = dividing->part_name,
                     .version = 1,
                     .n_params = (uint32_t)count,
                     .params = list,
                     .title = op_of(dividing)->title,
                     .formula = op_of(dividing)->formula,
                     .tolerance = op_of(dividing)->tolerance,
                     .expands = text_keep(&text, dividing->arena)};
    return add_op(dividing, op, out_part);
}

static tapml_status make_whole(struct dividing *dividing, const struct compiled_op **out_whole)
{
    tapml_op *op = arena_new(dividing->arena, sizeof(*op));
    struct text text;
    if (!op) {
        return status_no_memory();
    }
    text_init(&text);
    put_calls(dividing, 0, dividing->range->begin, &text);
    put_part(dividing, &text);
    put_calls(dividing, dividing->range->end, form_of(dividing)->call_count, &text);
    *op = *op_of(dividing);
    op->hdr = (tapml_hdr)TAPML_HDR(tapml_op);
    op->name = arena_format(dividing->arena, "%s.whole", dividing->part_name);
    op->version = 1;
    op->critical = NULL;
    op->expands = text_keep(&text, dividing->arena);
    return add_op(dividing, op, out_whole);
}

// The name has a digest of the extents, which are in the texts of temporaries.
static const char *name_part(struct dividing *dividing)
{
    struct hash_state *state = hash_begin();
    char digest[HASH_TEXT];
    if (!state) {
        return NULL;
    }
    for (uint32_t p = 0; p < dividing->param_count; p++) {
        const char *const texts[] = {dividing->params[p].name, dividing->params[p].shape,
                                     dividing->params[p].dtype};
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
            hash_add(state, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) + 1 : 1);
        }
    }
    hash_text(hash_end(state), digest);
    return arena_format(dividing->arena, "%s.part.%u.%u.v%.8s", op_of(dividing)->name,
                        dividing->range->begin, dividing->range->end, digest);
}

tapml_status subgroup_make(const struct plain_frame *frame,
                           const struct inferred *inferred,
                           const struct subgroup_range *range,
                           struct catalogue *catalogue,
                           struct arena *arena,
                           struct subgroup *out_subgroup)
{
    struct dividing dividing = {.frame = frame,
                                .inferred = inferred,
                                .range = range,
                                .catalogue = catalogue,
                                .arena = arena};
    note_all(&dividing);
    TAPML_TRY(add_params(&dividing));
    dividing.part_name = name_part(&dividing);
    if (!dividing.part_name) {
        return status_no_memory();
    }
    TAPML_TRY(make_part(&dividing, &out_subgroup->part));
    return make_whole(&dividing, &out_subgroup->whole);
}
