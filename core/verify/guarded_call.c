// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guarded_call.h"

#include "base/assert.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <string.h>

enum { WEIGHT_SMALL_BYTES = 64 * 1024 };

void guarded_call_release(struct guarded_call *guarded)
{
    room_release(&guarded->use_room);
    room_release(&guarded->watch_room);
    room_release(&guarded->argument_room);
    room_release(&guarded->tensor_room);
    room_release(&guarded->list_room);
    room_release(&guarded->image_room);
}

const tapml_param *guarded_call_param(const struct guarded_call *guarded,
                                      const struct guarded_use *use)
{
    return guarded->call->op->params[use->param];
}

int guarded_call_is_output(const tapml_param *param)
{
    return param->kind == TAPML_P_TENSOR_OUT || param->kind == TAPML_P_TENSOR_INOUT;
}

static int has_tensors(const tapml_value *arg)
{
    return arg->kind >= TAPML_P_TENSOR_IN && arg->kind <= TAPML_P_TENSORS_IN;
}

// The tensors of an argument; `one` holds the list of a single one.
static uint32_t
list_tensors(const tapml_value *arg, const tapml_tensor **one, const tapml_tensor *const **out_list)
{
    if (arg->kind == TAPML_P_TENSORS_IN) {
        *out_list = arg->u.p;
        return arg->count;
    }
    *one = arg->u.p;
    *out_list = one;
    return has_tensors(arg) ? 1 : 0;
}

// The tensors of a call, with panels and spans.
static uint32_t count_tensors(const struct backend_call *call)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < call->op->n_params; p++) {
        const tapml_tensor *one = NULL;
        const tapml_tensor *const *list = NULL;
        const uint32_t tensors = list_tensors(&call->args[p], &one, &list);
        for (uint32_t i = 0; i < tensors; i++) {
            for (const tapml_tensor *panel = list[i]; panel; panel = panel->next) {
                count += 1 + (panel->spans ? panel->encoding->n_spans : 0);
            }
        }
    }
    return count;
}

// Where the copies of a call's tensors are made.
struct guarded_copies {
    struct guarded_call *guarded;
    tapml_tensor *next;             // Copy,
    const tapml_tensor **next_span; // and place in a list of spans.
};

// Adds a tensor with a buffer, and its copy with that of the inner backend.
static tapml_tensor *
add_use(struct guarded_copies *copies, uint32_t param, const tapml_tensor *tensor)
{
    struct guarded_call *guarded = copies->guarded;
    struct guard_buffer *buffer = guard_buffer_own(tensor->buffer);
    tapml_tensor *copy = copies->next++;
    guarded->uses[guarded->use_count++] =
        (struct guarded_use){.param = param, .tensor = tensor, .buffer = buffer};
    *copy = *tensor;
    copy->buffer = buffer->inner;
    copy->offset += buffer->redzone;
    return copy;
}

// The same of one whose spans have buffers.
static tapml_tensor *
add_spans(struct guarded_copies *copies, uint32_t param, const tapml_tensor *tensor)
{
    tapml_tensor *copy = copies->next++;
    *copy = *tensor;
    copy->spans = copies->next_span;
    for (uint32_t i = 0; i < tensor->encoding->n_spans; i++) {
        *copies->next_span++ = add_use(copies, param, tensor->spans[i]);
    }
    return copy;
}

// Adds a tensor with its panels.
static const tapml_tensor *
add_uses(struct guarded_copies *copies, uint32_t param, const tapml_tensor *tensor)
{
    const tapml_tensor *first = copies->next;
    tapml_tensor *last = NULL;
    for (const tapml_tensor *panel = tensor; panel; panel = panel->next) {
        tapml_tensor *copy =
            panel->spans ? add_spans(copies, param, panel) : add_use(copies, param, panel);
        copy->next = NULL;
        if (last) {
            last->next = copy;
        }
        last = copy;
    }
    return first;
}

tapml_status guarded_call_begin(struct guarded_call *guarded,
                                const struct backend_call *call,
                                const tapml_value **out_args)
{
    guarded->call = call;
    guarded->use_count = 0;
    guarded->watch_count = 0;
    const uint64_t count = count_tensors(call);
    void *uses = NULL, *tensors = NULL, *lists = NULL, *arguments = NULL;
    TAPML_TRY(room_need(&guarded->use_room, count * sizeof(struct guarded_use), &uses));
    TAPML_TRY(room_need(&guarded->tensor_room, count * sizeof(tapml_tensor), &tensors));
    TAPML_TRY(room_need(&guarded->list_room, 2 * count * sizeof(const tapml_tensor *), &lists));
    TAPML_TRY(
        room_need(&guarded->argument_room, call->op->n_params * sizeof(tapml_value), &arguments));
    tapml_value *args = arguments;
    const tapml_tensor **next_list = lists;
    struct guarded_copies copies = {guarded, tensors, next_list + count};
    guarded->uses = uses;
    for (uint32_t p = 0; p < call->op->n_params; p++) {
        const tapml_tensor *one = NULL;
        const tapml_tensor *const *list = NULL;
        const uint32_t length = list_tensors(&call->args[p], &one, &list);
        args[p] = call->args[p];
        for (uint32_t i = 0; i < length; i++) {
            next_list[i] = add_uses(&copies, p, list[i]);
        }
        if (length > 0) {
            args[p].u.p = args[p].kind == TAPML_P_TENSORS_IN ? (const void *)next_list
                                                             : (const void *)next_list[0];
        }
        next_list += length;
    }
    ASSERT(guarded->use_count <= count);
    *out_args = args;
    return TAPML_OK;
}

// The bytes of an encoded tensor, as one axis; of a state in rows.
static tapml_status
view_encoded(const tapml_tensor *tensor, int is_state, struct guarded_view *view)
{
    uint64_t bytes = 0;
    if (is_state) {
        encoding_byte_shape(tensor->encoding, view->shape, view->rank);
        shape_dense_strides(view->shape, view->rank, view->stride);
        return TAPML_OK;
    }
    TAPML_TRY(encoding_bytes(tensor->encoding, tensor->dtype, tensor->shape, tensor->rank, &bytes));
    view->rank = 1;
    view->shape[0] = (int64_t)bytes;
    view->stride[0] = 1;
    return TAPML_OK;
}

// The façade has seen that the tensor lies in its buffer.
tapml_status guarded_call_view(const struct guarded_call *guarded,
                               const struct guarded_use *use,
                               struct guarded_view *out_view)
{
    struct guarded_view *view = out_view;
    const tapml_tensor *tensor = use->tensor;
    const tapml_param *param = guarded_call_param(guarded, use);
    int64_t count = 0;
    *view =
        (struct guarded_view){.rank = tensor->rank, .element_bytes = dtype_bytes(tensor->dtype)};
    if (tensor->rank > 0) {
        memcpy(view->shape, tensor->shape, tensor->rank * sizeof(*view->shape));
        shape_dense_strides(view->shape, view->rank, view->stride);
    }
    if (tensor->encoding) {
        const uint32_t states = TAPML_E_STATE_READ | TAPML_E_STATE_WRITE;
        TAPML_TRY(view_encoded(tensor, (param->effects & states) != 0, view));
    } else if (tensor->stride) {
        memcpy(view->stride, tensor->stride, tensor->rank * sizeof(*view->stride));
    }
    view->offset = use->buffer->redzone + tensor->offset;
    if ((param->effects & TAPML_E_STATE_WRITE) != 0 && view->rank > 0) {
        const struct infer_region *region = &guarded->call->inferred->regions[use->param];
        view->offset += (uint64_t)region->begin * (uint64_t)view->stride[0] * view->element_bytes;
        view->shape[0] = region->end - region->begin;
    }
    TAPML_TRY(shape_count(view->shape, view->rank, &count));
    view->count = (uint64_t)count;
    return TAPML_OK;
}

void guarded_call_gather(const struct guarded_view *view, const unsigned char *image, void *dense)
{
    convert_gather(image + view->offset, view->shape, view->stride, view->rank, view->element_bytes,
                   dense);
}

void guarded_call_scatter(const struct guarded_view *view, const void *dense, unsigned char *image)
{
    convert_scatter(dense, view->shape, view->stride, view->rank, view->element_bytes,
                    image + view->offset);
}

struct guarded_watch *guarded_call_find_watch(const struct guarded_call *guarded,
                                              const struct guard_buffer *buffer)
{
    for (uint32_t i = 0; i < guarded->watch_count; i++) {
        if (guarded->watches[i].buffer == buffer) {
            return &guarded->watches[i];
        }
    }
    return NULL;
}

static void add_watch(struct guarded_call *guarded, const struct guarded_use *use)
{
    const tapml_param *param = guarded_call_param(guarded, use);
    const int is_weight = (param->effects & TAPML_E_WEIGHT) != 0;
    struct guarded_watch *watch = guarded_call_find_watch(guarded, use->buffer);
    if (!watch) {
        watch = &guarded->watches[guarded->watch_count++];
        *watch = (struct guarded_watch){.buffer = use->buffer, .use = use, .is_weight = is_weight};
    }
    watch->is_weight = watch->is_weight && is_weight;
    watch->use = guarded_call_is_output(param) ? use : watch->use;
}

static uint64_t image_bytes(const struct guard_buffer *buffer)
{
    enum { IMAGE_ALIGN = 64 };
    return (guard_buffer_inner_bytes(buffer) + IMAGE_ALIGN - 1) / IMAGE_ALIGN * IMAGE_ALIGN;
}

// Images that a call needs of a buffer: one after it, of a small weight; else one before it, too.
static uint32_t count_images(const struct guarded_watch *watch)
{
    const struct guard_buffer *buffer = watch->buffer;
    const int is_small =
        buffer->size <= WEIGHT_SMALL_BYTES && guard_buffer_readable_bytes(buffer) > 0;
    return !watch->is_weight ? 2 : is_small;
}

tapml_status guarded_call_list_watches(struct guarded_call *guarded)
{
    void *watches = NULL, *images = NULL;
    uint64_t bytes = 0;
    TAPML_TRY(
        room_need(&guarded->watch_room, guarded->use_count * sizeof(*guarded->watches), &watches));
    guarded->watches = watches;
    guarded->watch_count = 0;
    for (uint32_t i = 0; i < guarded->use_count; i++) {
        add_watch(guarded, &guarded->uses[i]);
    }
    for (uint32_t i = 0; i < guarded->watch_count; i++) {
        const struct guarded_watch *watch = &guarded->watches[i];
        bytes += count_images(watch) * image_bytes(watch->buffer);
    }
    TAPML_TRY(room_need(&guarded->image_room, bytes, &images));
    unsigned char *next = images;
    for (uint32_t i = 0; i < guarded->watch_count; i++) {
        struct guarded_watch *watch = &guarded->watches[i];
        const uint32_t count = count_images(watch);
        watch->after = count > 0 ? next : NULL;
        watch->before = count > 1 ? next + image_bytes(watch->buffer) : NULL;
        next += count * image_bytes(watch->buffer);
    }
    ASSERT(next == (unsigned char *)images + bytes);
    return TAPML_OK;
}
