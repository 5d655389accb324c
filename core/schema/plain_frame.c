// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "schema/plain_frame.h"

#include "base/arena.h"
#include "base/assert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

// A tensor of a call that is no whole value.
struct plain_view {
    tapml_tensor tensor;
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK];
};

// What one evaluation knows.
struct evaluation {
    struct plain_frame *frame;
    const tapml_value *args;
    const struct expression_scope *scope;
    enum activation activation;
};

// -- Making ------------------------------------------------------------------------------------

static uint32_t param_count(const struct plain_form *form)
{
    return form->schema->op->n_params;
}

static activation_set *
mark_of(const struct plain_frame *frame, const struct plain_tensor *tensor, activation_set *unused)
{
    const uint32_t first = param_count(frame->form);
    return tensor->value < first ? unused : &frame->temporaries[tensor->value - first].mark;
}

static void restrict_marks(const struct plain_frame *frame, const struct plain_call *call)
{
    activation_set unused = 0;
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        for (uint32_t i = 0; i < call->arguments[p].count; i++) {
            *mark_of(frame, &call->arguments[p].tensors[i], &unused) &=
                compiled_takes_activations(call->schema, p);
        }
    }
}

static tapml_status
make_call(const struct plain_call *call, struct arena *arena, struct plain_frame_call *made)
{
    const uint32_t count = call->schema->op->n_params;
    uint32_t tensors = 0;
    for (uint32_t p = 0; p < count; p++) {
        tensors += call->arguments[p].count;
    }
    made->schema = call->schema;
    made->args = arena_array(arena, (size_t)count + 1, sizeof(*made->args));
    made->views = arena_array(arena, (size_t)tensors + 1, sizeof(*made->views));
    made->values = arena_array(arena, (size_t)tensors + 1, sizeof(*made->values));
    return made->args && made->views && made->values ? TAPML_OK : status_no_memory();
}

// The lists of a call: pointers to its tensors, behind one another.
static tapml_status
make_lists(const struct plain_call *call, struct arena *arena, struct plain_frame_call *made)
{
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        const struct plain_argument *argument = &call->arguments[p];
        if (argument->kind == PLAIN_TENSORS && argument->count > 0) {
            made->args[p].u.p = arena_array(arena, argument->count, sizeof(const tapml_tensor *));
            if (!made->args[p].u.p) {
                return status_no_memory();
            }
        }
    }
    return TAPML_OK;
}

tapml_status plain_frame_create(const struct plain_form *form,
                                struct arena *arena,
                                struct plain_frame **out_frame)
{
    struct plain_frame *frame = arena_new(arena, sizeof(*frame));
    if (!frame) {
        return status_no_memory();
    }
    frame->form = form;
    frame->temporary_count = form->value_count - param_count(form);
    frame->calls = arena_array(arena, form->call_count, sizeof(*frame->calls));
    frame->temporaries =
        arena_array(arena, (size_t)frame->temporary_count + 1, sizeof(*frame->temporaries));
    if (!frame->calls || !frame->temporaries) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < frame->temporary_count; i++) {
        frame->temporaries[i].mark = (activation_set)~0u;
    }
    for (uint32_t i = 0; i < form->call_count; i++) {
        TAPML_TRY(make_call(&form->calls[i], arena, &frame->calls[i]));
        TAPML_TRY(make_lists(&form->calls[i], arena, &frame->calls[i]));
        restrict_marks(frame, &form->calls[i]);
    }
    *out_frame = frame;
    return TAPML_OK;
}

// -- Tensors -----------------------------------------------------------------------------------

static tapml_status to_numbers(const struct affine *values, uint32_t count, int64_t *out_numbers)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!affine_is_constant(&values[i]) || values[i].constant < 0) {
            return status_fail(TAPML_INVALID, "axis %u of its view is no number from 0 on", i);
        }
        out_numbers[i] = values[i].constant;
    }
    return TAPML_OK;
}

static tapml_status evaluate_list(const struct evaluation *now,
                                  const struct expression *text,
                                  int64_t *out_numbers,
                                  uint32_t *out_count)
{
    struct affine values[TAPML_MAX_RANK];
    TAPML_TRY(expression_shape(now->scope, text, values, out_count));
    return to_numbers(values, *out_count, out_numbers);
}

// A view stays within the elements of the dense tensor that it looks at.
static tapml_status check_extent(const tapml_tensor *base, const tapml_tensor *view, int64_t offset)
{
    int64_t elements = 0, reached = 0;
    if (base->encoding || base->next || base->spans ||
        !shape_is_dense(base->shape, base->stride, base->rank)) {
        return status_fail(TAPML_INVALID, "is a view of what is not dense");
    }
    TAPML_TRY(shape_count(base->shape, base->rank, &elements));
    TAPML_TRY(shape_span(view->shape, view->stride, view->rank, &reached));
    return reached <= elements && offset <= elements - reached
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "its view reaches %lld elements from %lld on, of %lld",
                             (long long)reached, (long long)offset, (long long)elements);
}

static tapml_status take_view(const struct evaluation *now,
                              const struct plain_tensor *form,
                              const tapml_tensor *base,
                              struct plain_view *view)
{
    uint32_t rank = 0, strides = 0;
    int64_t offset = 0;
    TAPML_TRY(evaluate_list(now, form->shape, view->shape, &rank));
    if (form->stride) {
        TAPML_TRY(evaluate_list(now, form->stride, view->stride, &strides));
    }
    if (form->offset) {
        TAPML_TRY(expression_value(now->scope, form->offset, &offset));
    }
    if ((form->stride && strides != rank) || offset < 0) {
        return status_fail(TAPML_INVALID, "its view has %u axes, %u strides and offset %lld", rank,
                           strides, (long long)offset);
    }
    view->tensor = *base;
    view->tensor.rank = rank;
    view->tensor.shape = view->shape;
    view->tensor.stride = form->stride ? view->stride : NULL;
    TAPML_TRY(check_extent(base, &view->tensor, offset));
    view->tensor.offset = base->offset + (uint64_t)offset * dtype_bytes(base->dtype);
    return TAPML_OK;
}

// The tensor of a value; NULL if an optional parameter is left out.
static const tapml_tensor *value_tensor(const struct evaluation *now, uint32_t value)
{
    const uint32_t first = param_count(now->frame->form);
    if (value >= first) {
        return &now->frame->temporaries[value - first].tensor;
    }
    return now->args[value].kind == TAPML_V_NONE ? NULL : now->args[value].u.p;
}

// Finds tensor number `index` of a call; NULL if it is left out.
static tapml_status take_tensor(const struct evaluation *now,
                                struct plain_frame_call *made,
                                const struct plain_tensor *form,
                                const tapml_tensor **out_tensor)
{
    struct plain_view *view = &made->views[made->tensor_count];
    const tapml_tensor *base = value_tensor(now, form->value);
    *out_tensor = base;
    if (!base) {
        return TAPML_OK;
    }
    made->values[made->tensor_count++] = form->value;
    if (form->shape) {
        TAPML_TRY(take_view(now, form, base, view));
        *out_tensor = &view->tensor;
    }
    return TAPML_OK;
}

// -- Arguments ---------------------------------------------------------------------------------

static tapml_status take_list(const struct evaluation *now,
                              struct plain_frame_call *made,
                              const struct plain_argument *argument,
                              tapml_value *arg)
{
    const tapml_tensor **list = (const tapml_tensor **)(uintptr_t)arg->u.p;
    if (argument->param != COMPILED_NONE) { // A list of the op, as it is.
        *arg = now->args[argument->param];
        return TAPML_OK;
    }
    arg->kind = TAPML_P_TENSORS_IN;
    arg->count = argument->count;
    for (uint32_t i = 0; i < argument->count; i++) {
        TAPML_TRY(take_tensor(now, made, &argument->tensors[i], &list[i]));
        if (!list[i]) {
            return status_fail(TAPML_INVALID, "a tensor of its list is left out");
        }
    }
    return TAPML_OK;
}

static tapml_status take_argument(const struct evaluation *now,
                                  struct plain_frame_call *made,
                                  const struct plain_argument *argument,
                                  uint32_t p)
{
    tapml_value *arg = &made->args[p];
    const tapml_tensor *tensor = NULL;
    switch (argument->kind) {
    case PLAIN_ABSENT:
        *arg = (tapml_value){.kind = TAPML_V_NONE};
        return TAPML_OK;
    case PLAIN_I64:
        arg->kind = TAPML_P_I64;
        return expression_value(now->scope, argument->sum, &arg->u.i);
    case PLAIN_F64:
        *arg = argument->param != COMPILED_NONE
                   ? now->args[argument->param]
                   : (tapml_value){.kind = TAPML_P_F64, .u.d = argument->number};
        return TAPML_OK;
    case PLAIN_TENSORS:
        return take_list(now, made, argument, arg);
    case PLAIN_TENSOR:
        TAPML_TRY(take_tensor(now, made, &argument->tensors[0], &tensor));
        arg->kind = tensor ? made->schema->params[p].kind : TAPML_V_NONE;
        arg->u.p = tensor;
        return TAPML_OK;
    }
    return TAPML_OK;
}

// -- Temporaries -------------------------------------------------------------------------------

// What inference is told of an input: of panels all rows, and of what is encoded the type that it
// stands for.
static void describe(const struct compiled_op *schema,
                     uint32_t p,
                     const tapml_value *arg,
                     struct infer_argument *out_argument)
{
    const int is_list = arg->kind == TAPML_P_TENSORS_IN;
    *out_argument = (struct infer_argument){.is_present = arg->kind != TAPML_V_NONE &&
                                                          !(is_list && arg->count == 0)};
    if (arg->kind == TAPML_P_I64) {
        out_argument->i = affine_constant(arg->u.i);
    }
    if (!schema->params[p].is_tensor || !out_argument->is_present) {
        return;
    }
    const tapml_tensor *tensor = is_list ? *(const tapml_tensor *const *)arg->u.p : arg->u.p;
    out_argument->dtype = tensor->encoding ? schema->params[p].dtypes[0] : tensor->dtype;
    out_argument->rank = tensor->rank;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        out_argument->shape[i] = affine_constant(tensor->shape[i]);
    }
    for (const tapml_tensor *panel = tensor->next; panel && tensor->rank > 0; panel = panel->next) {
        out_argument->shape[0].constant += panel->shape[0];
    }
}

// `is_like` says that its dtype is that of an input, and no choice.
static tapml_status set_temporary(const struct evaluation *now,
                                  struct plain_temporary *temporary,
                                  const struct infer_argument *found,
                                  int is_like)
{
    const int is_reduced = !is_like && found->dtype == TAPML_F32 &&
                           activation_is_reduced(now->activation) &&
                           (temporary->mark & activation_bit(now->activation)) != 0;
    int64_t elements = 0;
    TAPML_TRY(to_numbers(found->shape, found->rank, temporary->shape));
    TAPML_TRY(shape_count(temporary->shape, found->rank, &elements));
    temporary->tensor = (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor),
        .dtype = is_reduced ? activation_type(now->activation)->dtype : found->dtype,
        .rank = found->rank,
        .shape = temporary->shape,
    };
    if (__builtin_mul_overflow((uint64_t)elements, dtype_bytes(temporary->tensor.dtype),
                               &temporary->bytes)) {
        return status_fail(TAPML_INVALID, "its size does not fit in 64 bits");
    }
    return TAPML_OK;
}

// Finds the shapes of the temporaries that a call writes.
static tapml_status infer_outputs(const struct evaluation *now,
                                  const struct plain_call *call,
                                  const struct plain_frame_call *made)
{
    const uint32_t first = param_count(now->frame->form);
    struct infer_argument arguments[COMPILED_PARAMS_MAX];
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        describe(call->schema, p, &made->args[p], &arguments[p]);
    }
    TAPML_TRY(infer_op(call->schema, arguments));
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        const struct plain_argument *argument = &call->arguments[p];
        if (call->schema->params[p].kind == TAPML_P_TENSOR_OUT && argument->count == 1 &&
            argument->tensors[0].value >= first) {
            struct plain_temporary *temporary =
                &now->frame->temporaries[argument->tensors[0].value - first];
            TAPML_TRY(set_temporary(now, temporary, &arguments[p],
                                    call->schema->params[p].dtype_like != COMPILED_NONE));
        }
    }
    return TAPML_OK;
}

static int writes_temporary(const struct plain_form *form, const struct plain_call *call)
{
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        if (call->schema->params[p].kind == TAPML_P_TENSOR_OUT && call->arguments[p].count == 1 &&
            call->arguments[p].tensors[0].value >= param_count(form)) {
            return 1;
        }
    }
    return 0;
}

static tapml_status evaluate_call(const struct evaluation *now, uint32_t index)
{
    const struct plain_call *call = &now->frame->form->calls[index];
    struct plain_frame_call *made = &now->frame->calls[index];
    made->tensor_count = 0;
    for (uint32_t p = 0; p < call->schema->op->n_params; p++) {
        const tapml_status status = take_argument(now, made, &call->arguments[p], p);
        if (status != TAPML_OK) {
            return status_explain(status, "parameter '%s'", call->schema->op->params[p]->name);
        }
    }
    return writes_temporary(now->frame->form, call) ? infer_outputs(now, call, made) : TAPML_OK;
}

tapml_status plain_frame_evaluate(struct plain_frame *frame,
                                  const tapml_value *args,
                                  const struct inferred *inferred,
                                  enum activation activation)
{
    const struct evaluation now = {frame, args, &inferred->scope, activation};
    ASSERT(inferred->schema == frame->form->schema);
    for (uint32_t i = 0; i < frame->form->call_count; i++) {
        const tapml_status status = evaluate_call(&now, i);
        if (status != TAPML_OK) {
            return status_explain(status, "the plain form of '%s', call %u of '%s'",
                                  frame->form->schema->op->name, i + 1,
                                  frame->calls[i].schema->op->name);
        }
    }
    return TAPML_OK;
}

void plain_frame_set_buffer(struct plain_frame *frame, uint32_t temporary, tapml_object *buffer)
{
    const uint32_t value = param_count(frame->form) + temporary;
    frame->temporaries[temporary].tensor.buffer = buffer;
    for (uint32_t i = 0; i < frame->form->call_count; i++) {
        for (uint32_t t = 0; t < frame->calls[i].tensor_count; t++) {
            if (frame->calls[i].values[t] == value) {
                frame->calls[i].views[t].tensor.buffer = buffer;
            }
        }
    }
}
