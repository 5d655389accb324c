// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guard.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WEIGHT_SMALL_BYTES = 64 * 1024, WEIGHT_CALLS = 16, HASH_PIECE_BYTES = 1 << 20 };

// A buffer as the callers of the guard have it.
struct guard_buffer {
    tapml_object object; // First, so that a `tapml_object *` is a `struct guard_buffer *`.
    tapml_object *inner;
    uint64_t size;
    uint64_t redzone; // Bytes on either side; 0 around wrapped memory.
    uint32_t zones[2][GUARD_REDZONE_BYTES / sizeof(uint32_t)]; // What they hold.

    // As a weight: of all bytes, as they were when they were first used, and how often since.
    struct hash hash;
    int is_hashed;
    uint64_t uses;
};

// Memory that is kept from call to call.
struct room {
    void *memory;
    uint64_t size;
};

// A tensor or a panel of one, as an argument of the call at hand.
struct use {
    uint32_t param;
    const tapml_tensor *tensor;
    struct guard_buffer *buffer;
};

// A buffer of the call at hand.
struct watch {
    struct guard_buffer *buffer;
    const struct use *use; // The first, an output where there is one.
    unsigned char *before; // With the redzones; NULL for a weight.
    unsigned char *after;  // NULL for a large weight.
    int is_weight;
};

// What a call writes of an output. Offsets count from the inner buffer's first byte.
struct view {
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK];
    uint32_t rank;
    uint64_t offset;
    uint64_t element_bytes;
    uint64_t count;
};

struct guard {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct guard *`.
    struct backend_vt vt;
    struct backend_info info;
    int is_ignoring;
    int is_measuring;
    uint64_t time_ns;
    uint32_t buffers_made;
    struct guard_violation violation;

    // Of the call at hand.
    const struct backend_call *call;
    struct use *uses;
    uint32_t use_count;
    struct watch *watches;
    uint32_t watch_count;
    struct room use_room, watch_room, argument_room, tensor_room, list_room, image_room, dense_room;
};

static struct guard_buffer *own(tapml_object *object)
{
    return (struct guard_buffer *)object;
}

static uint64_t inner_bytes(const struct guard_buffer *buffer)
{
    return buffer->size + 2 * buffer->redzone;
}

static tapml_status room_need(struct room *room, uint64_t size, void **out_memory)
{
    if (!room->memory || room->size < size) {
        alloc_free(room->memory);
        room->memory = alloc_new(size);
        room->size = room->memory ? size : 0;
    }
    *out_memory = room->memory;
    return room->memory ? TAPML_OK : status_no_memory();
}

static void poison(void *memory, uint64_t size)
{
    const uint32_t word = GUARD_POISON;
    unsigned char *bytes = memory;
    for (uint64_t at = 0; at < size; at += sizeof(word)) {
        memcpy(bytes + at, &word, size - at < sizeof(word) ? size - at : sizeof(word));
    }
}

// -- Buffers -----------------------------------------------------------------------------------

// Each word of each redzone is another NaN: a kernel that goes too far by as much in an input as in
// an output copies the one redzone into the other, which must not look untouched.
static void draw_redzones(struct guard_buffer *buffer, uint32_t serial)
{
    enum { QUIET_NAN = 0x7fc00000, PAYLOAD = 0x3fffff, WORDS = sizeof(buffer->zones) / 4 };
    uint32_t *words = &buffer->zones[0][0];
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = QUIET_NAN | ((serial * WORDS + i) & PAYLOAD);
    }
}

static tapml_status write_redzones(struct backend *inner, const struct guard_buffer *buffer)
{
    TAPML_TRY(backend_write(inner, buffer->inner, 0, buffer->zones[0], buffer->redzone));
    return backend_write(inner, buffer->inner, buffer->redzone + buffer->size, buffer->zones[1],
                         buffer->redzone);
}

static tapml_status make_inner(struct backend *inner, struct guard_buffer *buffer)
{
    TAPML_TRY(backend_buffer_new(inner, inner_bytes(buffer), &buffer->inner));
    tapml_status status = backend_fill(inner, buffer->inner, 0, inner_bytes(buffer), GUARD_POISON);
    if (status == TAPML_OK) {
        status = write_redzones(inner, buffer);
    }
    if (status != TAPML_OK) {
        (void)backend_wait(inner); // What is queued reads the redzones.
        backend_buffer_free(inner, buffer->inner);
    }
    return status;
}

static tapml_status guard_buffer_new(struct backend *backend, uint64_t size, tapml_object **out)
{
    struct guard *guard = (struct guard *)backend;
    if (size > UINT64_MAX - 2 * (uint64_t)GUARD_REDZONE_BYTES) {
        return status_fail(TAPML_NO_MEMORY, "a buffer of %" PRIu64 " bytes is too large", size);
    }
    struct guard_buffer *buffer = alloc_new(sizeof(*buffer));
    if (!buffer) {
        return status_no_memory();
    }
    buffer->size = size;
    buffer->redzone = GUARD_REDZONE_BYTES;
    draw_redzones(buffer, guard->buffers_made++);
    const tapml_status status = make_inner(guard->wrapper.inner, buffer);
    if (status != TAPML_OK) {
        alloc_free(buffer);
        return status;
    }
    *out = &buffer->object;
    return TAPML_OK;
}

static tapml_status guard_buffer_wrap(
    struct backend *backend, void *memory, uint64_t size, uint32_t access, tapml_object **out)
{
    struct backend *inner = ((struct guard *)backend)->wrapper.inner;
    struct guard_buffer *buffer = alloc_new(sizeof(*buffer));
    if (!buffer) {
        return status_no_memory();
    }
    buffer->size = size;
    const tapml_status status = backend_buffer_wrap(inner, memory, size, access, &buffer->inner);
    if (status != TAPML_OK) {
        alloc_free(buffer);
        return status;
    }
    *out = &buffer->object;
    return TAPML_OK;
}

static void guard_buffer_free(struct backend *backend, tapml_object *object)
{
    backend_buffer_free(((struct guard *)backend)->wrapper.inner, own(object)->inner);
    alloc_free(own(object));
}

static tapml_status guard_write(struct backend *backend,
                                tapml_object *object,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    struct guard_buffer *buffer = own(object);
    buffer->is_hashed = 0;
    return backend_write(((struct guard *)backend)->wrapper.inner, buffer->inner,
                         buffer->redzone + offset, source, size);
}

static tapml_status guard_read(
    struct backend *backend, tapml_object *object, uint64_t offset, void *target, uint64_t size)
{
    const struct guard_buffer *buffer = own(object);
    return backend_read(((struct guard *)backend)->wrapper.inner, buffer->inner,
                        buffer->redzone + offset, target, size);
}

static tapml_status guard_fill(
    struct backend *backend, tapml_object *object, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct guard_buffer *buffer = own(object);
    buffer->is_hashed = 0;
    return backend_fill(((struct guard *)backend)->wrapper.inner, buffer->inner,
                        buffer->redzone + offset, size, pattern);
}

static tapml_status guard_map(struct backend *backend,
                              tapml_object *object,
                              uint64_t offset,
                              uint64_t size,
                              const void **out_memory)
{
    const struct guard_buffer *buffer = own(object);
    return backend_map(((struct guard *)backend)->wrapper.inner, buffer->inner,
                       buffer->redzone + offset, size, out_memory);
}

static void guard_unmap(struct backend *backend, tapml_object *object)
{
    backend_unmap(((struct guard *)backend)->wrapper.inner, own(object)->inner);
}

// -- The arguments of a call -------------------------------------------------------------------

static const tapml_param *param_of(const struct guard *guard, const struct use *use)
{
    return guard->call->op->params[use->param];
}

static int is_output(const tapml_param *param)
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

static uint32_t count_uses(const struct backend_call *call)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < call->op->n_params; p++) {
        const tapml_tensor *one = NULL;
        const tapml_tensor *const *list = NULL;
        const uint32_t tensors = list_tensors(&call->args[p], &one, &list);
        for (uint32_t i = 0; i < tensors; i++) {
            for (const tapml_tensor *panel = list[i]; panel; panel = panel->next) {
                count++;
            }
        }
    }
    return count;
}

// Adds a tensor with its panels, and its copy with the buffers of the inner backend.
static const tapml_tensor *
add_uses(struct guard *guard, tapml_tensor *copies, uint32_t param, const tapml_tensor *tensor)
{
    const tapml_tensor *first = &copies[guard->use_count];
    for (const tapml_tensor *panel = tensor; panel; panel = panel->next) {
        struct guard_buffer *buffer = own(panel->buffer);
        tapml_tensor *copy = &copies[guard->use_count];
        guard->uses[guard->use_count++] =
            (struct use){.param = param, .tensor = panel, .buffer = buffer};
        *copy = *panel;
        copy->buffer = buffer->inner;
        copy->offset += buffer->redzone;
        copy->next = panel->next ? copy + 1 : NULL;
    }
    return first;
}

// Lists the tensors of a call, and makes its arguments for the inner backend.
static tapml_status translate(struct guard *guard, const tapml_value **out_args)
{
    const struct backend_call *call = guard->call;
    const uint64_t count = count_uses(call);
    void *uses = NULL, *tensors = NULL, *lists = NULL, *arguments = NULL;
    TAPML_TRY(room_need(&guard->use_room, count * sizeof(struct use), &uses));
    TAPML_TRY(room_need(&guard->tensor_room, count * sizeof(tapml_tensor), &tensors));
    TAPML_TRY(room_need(&guard->list_room, count * sizeof(const tapml_tensor *), &lists));
    TAPML_TRY(
        room_need(&guard->argument_room, call->op->n_params * sizeof(tapml_value), &arguments));
    tapml_value *args = arguments;
    const tapml_tensor **next_list = lists;
    guard->uses = uses;
    guard->use_count = 0;
    for (uint32_t p = 0; p < call->op->n_params; p++) {
        const tapml_tensor *one = NULL;
        const tapml_tensor *const *list = NULL;
        const uint32_t length = list_tensors(&call->args[p], &one, &list);
        args[p] = call->args[p];
        for (uint32_t i = 0; i < length; i++) {
            next_list[i] = add_uses(guard, tensors, p, list[i]);
        }
        if (length > 0) {
            args[p].u.p = args[p].kind == TAPML_P_TENSORS_IN ? (const void *)next_list
                                                             : (const void *)next_list[0];
        }
        next_list += length;
    }
    *out_args = args;
    return TAPML_OK;
}

// The bytes of an encoded tensor, as one axis.
static tapml_status view_encoded(const tapml_tensor *tensor, struct view *view)
{
    uint64_t bytes = 0;
    TAPML_TRY(encoding_bytes(tensor->encoding, tensor->dtype, tensor->shape, tensor->rank, &bytes));
    view->rank = 1;
    view->shape[0] = (int64_t)bytes;
    view->stride[0] = 1;
    return TAPML_OK;
}

// The part of a tensor that the call may write. The façade has seen that it lies in its buffer.
static tapml_status make_view(const struct guard *guard, const struct use *use, struct view *view)
{
    const tapml_tensor *tensor = use->tensor;
    const tapml_param *param = param_of(guard, use);
    int64_t count = 0;
    *view = (struct view){.rank = tensor->rank, .element_bytes = dtype_bytes(tensor->dtype)};
    if (tensor->rank > 0) {
        memcpy(view->shape, tensor->shape, tensor->rank * sizeof(*view->shape));
        shape_dense_strides(view->shape, view->rank, view->stride);
    }
    if (tensor->encoding) {
        TAPML_TRY(view_encoded(tensor, view));
    } else if (tensor->stride) {
        memcpy(view->stride, tensor->stride, tensor->rank * sizeof(*view->stride));
    }
    view->offset = use->buffer->redzone + tensor->offset;
    if ((param->effects & TAPML_E_STATE_WRITE) != 0 && view->rank > 0) {
        const struct infer_region *region = &guard->call->inferred->regions[use->param];
        view->offset += (uint64_t)region->begin * (uint64_t)view->stride[0] * view->element_bytes;
        view->shape[0] = region->end - region->begin;
    }
    TAPML_TRY(shape_count(view->shape, view->rank, &count));
    view->count = (uint64_t)count;
    return TAPML_OK;
}

static void gather(const struct view *view, const unsigned char *image, void *dense)
{
    convert_gather(image + view->offset, view->shape, view->stride, view->rank, view->element_bytes,
                   dense);
}

static void scatter(const struct view *view, const void *dense, unsigned char *image)
{
    convert_scatter(dense, view->shape, view->stride, view->rank, view->element_bytes,
                    image + view->offset);
}

// -- What is wrong -----------------------------------------------------------------------------

static void accuse(struct guard *guard, enum guard_kind kind, const struct use *use)
{
    guard->violation.kind = kind;
    guard->violation.param = use->param;
    guard->violation.is_weight = (param_of(guard, use)->effects & TAPML_E_WEIGHT) != 0;
}

// The element of a tensor that holds a byte of its inner buffer; 0 where none does.
static int find_element(const struct use *use, uint64_t byte, uint64_t *out_index)
{
    const tapml_tensor *tensor = use->tensor;
    const uint64_t element_bytes = dtype_bytes(tensor->dtype);
    const uint64_t first = use->buffer->redzone + tensor->offset;
    int64_t dense[TAPML_MAX_RANK];
    int64_t count = 0;
    if (tensor->encoding || byte < first || element_bytes == 0 ||
        shape_count(tensor->shape, tensor->rank, &count) != TAPML_OK) {
        return 0;
    }
    shape_dense_strides(tensor->shape, tensor->rank, dense);
    const int64_t *stride = tensor->stride ? tensor->stride : dense;
    for (uint64_t index = 0; index < (uint64_t)count; index++) {
        uint64_t rest = index, at = 0;
        for (uint32_t i = tensor->rank; i > 0; i--) {
            at += rest % (uint64_t)tensor->shape[i - 1] * (uint64_t)stride[i - 1];
            rest /= (uint64_t)tensor->shape[i - 1];
        }
        if (at == (byte - first) / element_bytes) {
            *out_index = index;
            return 1;
        }
    }
    return 0;
}

// A byte between the redzones.
static void describe_inside(struct guard *guard, const struct use *use, uint64_t byte)
{
    struct guard_violation *violation = &guard->violation;
    const tapml_param *param = param_of(guard, use);
    const size_t size = sizeof(violation->what);
    int64_t rows = 0;
    uint64_t index = 0;
    const int is_element = find_element(use, byte, &index);
    if (!is_output(param) && is_element) {
        (void)snprintf(violation->what, size, "input '%.60s' changed at element %" PRIu64,
                       param->name, index);
    } else if (is_element && use->tensor->rank > 0 && (param->effects & TAPML_E_STATE_WRITE) != 0) {
        const struct infer_region *region = &guard->call->inferred->regions[use->param];
        (void)shape_count(use->tensor->shape + 1, use->tensor->rank - 1, &rows);
        (void)snprintf(violation->what, size,
                       "row %" PRIu64 " of state '%.60s' was written, outside of rows %" PRId64
                       " .. %" PRId64,
                       index / (uint64_t)rows, param->name, region->begin, region->end - 1);
    } else {
        (void)snprintf(violation->what, size,
                       "byte %" PRIu64 " of the buffer of '%.60s' was written, outside of its view",
                       byte - use->buffer->redzone, param->name);
    }
}

// A byte of the inner buffer that must not have changed.
static void accuse_byte(struct guard *guard, const struct use *use, uint64_t byte)
{
    const struct guard_buffer *buffer = use->buffer;
    const char *name = param_of(guard, use)->name;
    char *what = guard->violation.what;
    const size_t size = sizeof(guard->violation.what);
    accuse(guard, GUARD_OUTSIDE, use);
    if (byte < buffer->redzone) {
        (void)snprintf(what, size,
                       "redzone before '%.60s' was written, %" PRIu64 " bytes before its buffer",
                       name, buffer->redzone - byte);
    } else if (byte >= buffer->redzone + buffer->size) {
        (void)snprintf(what, size,
                       "redzone after '%.60s' was written, at byte %" PRIu64 " behind its buffer",
                       name, byte - buffer->redzone - buffer->size);
    } else {
        describe_inside(guard, use, byte);
    }
}

// The first word that differs, in bytes, or `size`. Its first byte may be the same by chance.
static uint64_t first_difference(const void *a, const void *b, uint64_t size)
{
    const unsigned char *left = a, *right = b;
    uint64_t at = 0;
    if (memcmp(left, right, size) == 0) {
        return size;
    }
    while (left[at] == right[at]) {
        at++;
    }
    return at - at % TAPML_TRANSFER_GRAIN;
}

// -- Weights -----------------------------------------------------------------------------------

// Transfers are whole grains; of wrapped memory the last bytes may be none.
static uint64_t readable_bytes(const struct guard_buffer *buffer)
{
    return inner_bytes(buffer) / TAPML_TRANSFER_GRAIN * TAPML_TRANSFER_GRAIN;
}

static void hash_piece(const void *piece, uint64_t size, struct hash *hash)
{
    const struct hash chain[] = {*hash, hash_bytes(piece, size)};
    *hash = hash_bytes(chain, sizeof(chain));
}

// A chain over pieces, so that a large weight needs little room.
static tapml_status
hash_buffer(struct guard *guard, const struct guard_buffer *buffer, struct hash *out_hash)
{
    struct backend *inner = guard->wrapper.inner;
    struct hash hash = {0};
    void *piece = NULL;
    TAPML_TRY(room_need(&guard->dense_room, HASH_PIECE_BYTES, &piece));
    for (uint64_t at = 0; at < readable_bytes(buffer); at += HASH_PIECE_BYTES) {
        const uint64_t rest = readable_bytes(buffer) - at;
        const uint64_t size = rest < HASH_PIECE_BYTES ? rest : HASH_PIECE_BYTES;
        TAPML_TRY(backend_read(inner, buffer->inner, at, piece, size));
        TAPML_TRY(backend_wait(inner));
        hash_piece(piece, size, &hash);
    }
    *out_hash = hash;
    return TAPML_OK;
}

static tapml_status begin_weight(struct guard *guard, struct guard_buffer *buffer)
{
    if (!buffer->is_hashed) {
        TAPML_TRY(hash_buffer(guard, buffer, &buffer->hash));
        buffer->is_hashed = 1;
        buffer->uses = 0;
    }
    return TAPML_OK;
}

// What of a weight's buffer has changed: a redzone, or the weight.
static tapml_status accuse_weight(struct guard *guard, const struct use *use)
{
    const struct guard_buffer *buffer = use->buffer;
    struct backend *inner = guard->wrapper.inner;
    const uint64_t behind = buffer->redzone + buffer->size;
    uint32_t zones[2][GUARD_REDZONE_BYTES / sizeof(uint32_t)];
    memcpy(zones, buffer->zones, sizeof(zones));
    if (buffer->redzone > 0) {
        TAPML_TRY(backend_read(inner, buffer->inner, 0, zones[0], buffer->redzone));
        TAPML_TRY(backend_read(inner, buffer->inner, behind, zones[1], buffer->redzone));
        TAPML_TRY(backend_wait(inner));
    }
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t at = first_difference(zones[i], buffer->zones[i], sizeof(zones[i]));
        if (at < sizeof(zones[i])) {
            accuse_byte(guard, use, i * behind + at);
            return TAPML_OK;
        }
    }
    accuse(guard, GUARD_OUTSIDE, use);
    (void)snprintf(guard->violation.what, sizeof(guard->violation.what),
                   "weight '%.60s' changed, in this call or in one before that used it",
                   param_of(guard, use)->name);
    return TAPML_OK;
}

static tapml_status check_weight(struct guard *guard, const struct watch *watch)
{
    struct guard_buffer *buffer = watch->buffer;
    struct hash now = {0};
    if (buffer->uses++ % WEIGHT_CALLS != 0 && !watch->after) {
        return TAPML_OK;
    }
    if (watch->after) {
        hash_piece(watch->after, readable_bytes(buffer), &now);
    } else {
        TAPML_TRY(hash_buffer(guard, buffer, &now));
    }
    if (hash_equal(now, buffer->hash)) {
        return TAPML_OK;
    }
    buffer->is_hashed = 0; // It is accused once.
    return accuse_weight(guard, watch->use);
}

// -- Before the call ---------------------------------------------------------------------------

static struct watch *find_watch(const struct guard *guard, const struct guard_buffer *buffer)
{
    for (uint32_t i = 0; i < guard->watch_count; i++) {
        if (guard->watches[i].buffer == buffer) {
            return &guard->watches[i];
        }
    }
    return NULL;
}

static void add_watch(struct guard *guard, const struct use *use)
{
    const tapml_param *param = param_of(guard, use);
    const int is_weight = (param->effects & TAPML_E_WEIGHT) != 0;
    struct watch *watch = find_watch(guard, use->buffer);
    if (!watch) {
        watch = &guard->watches[guard->watch_count++];
        *watch = (struct watch){.buffer = use->buffer, .use = use, .is_weight = is_weight};
    }
    watch->is_weight = watch->is_weight && is_weight;
    watch->use = is_output(param) ? use : watch->use;
}

static uint64_t image_bytes(const struct guard_buffer *buffer)
{
    enum { IMAGE_ALIGN = 64 };
    return (inner_bytes(buffer) + IMAGE_ALIGN - 1) / IMAGE_ALIGN * IMAGE_ALIGN;
}

// Images that a call needs of a buffer: one after it, of a small weight; else one before it, too.
static uint32_t count_images(const struct watch *watch)
{
    const struct guard_buffer *buffer = watch->buffer;
    const int is_small = buffer->size <= WEIGHT_SMALL_BYTES && readable_bytes(buffer) > 0;
    return !watch->is_weight ? 2 : is_small;
}

// Lists the buffers of the call, with room for what is in them.
static tapml_status list_watches(struct guard *guard)
{
    void *watches = NULL, *images = NULL;
    uint64_t bytes = 0;
    TAPML_TRY(room_need(&guard->watch_room, guard->use_count * sizeof(*guard->watches), &watches));
    guard->watches = watches;
    guard->watch_count = 0;
    for (uint32_t i = 0; i < guard->use_count; i++) {
        add_watch(guard, &guard->uses[i]);
    }
    for (uint32_t i = 0; i < guard->watch_count; i++) {
        const struct watch *watch = &guard->watches[i];
        bytes += count_images(watch) * image_bytes(watch->buffer);
    }
    TAPML_TRY(room_need(&guard->image_room, bytes, &images));
    unsigned char *next = images;
    for (uint32_t i = 0; i < guard->watch_count; i++) {
        struct watch *watch = &guard->watches[i];
        const uint32_t count = count_images(watch);
        watch->after = count > 0 ? next : NULL;
        watch->before = count > 1 ? next + image_bytes(watch->buffer) : NULL;
        next += count * image_bytes(watch->buffer);
    }
    return TAPML_OK;
}

static tapml_status read_image(struct guard *guard, const struct watch *watch, void *image)
{
    return backend_read(guard->wrapper.inner, watch->buffer->inner, 0, image,
                        readable_bytes(watch->buffer));
}

static tapml_status dense_need(struct guard *guard, const struct view *view, void **out_dense)
{
    return room_need(&guard->dense_room, view->count * view->element_bytes, out_dense);
}

// Whether an output is whole grains without gaps, so that nothing else is written with it.
static int is_whole(const struct view *view)
{
    return shape_is_dense(view->shape, view->stride, view->rank) &&
           view->offset % TAPML_TRANSFER_GRAIN == 0 &&
           view->count * view->element_bytes % TAPML_TRANSFER_GRAIN == 0;
}

// From the image of its buffer after the call, which comes to be behind this in the queue.
static tapml_status
poison_whole(const struct guard *guard, const struct watch *watch, const struct view *view)
{
    const uint64_t bytes = view->count * view->element_bytes;
    poison(watch->after + view->offset, bytes);
    return backend_write(guard->wrapper.inner, watch->buffer->inner, view->offset,
                         watch->after + view->offset, bytes);
}

// What is between goes along, and is waited for.
static tapml_status
poison_gappy(struct guard *guard, const struct watch *watch, const struct view *view)
{
    struct backend *inner = guard->wrapper.inner;
    void *dense = NULL;
    TAPML_TRY(backend_wait(inner));
    TAPML_TRY(dense_need(guard, view, &dense));
    poison(dense, view->count * view->element_bytes);
    scatter(view, dense, watch->before);
    return backend_write(inner, watch->buffer->inner, 0, watch->before,
                         readable_bytes(watch->buffer));
}

// Poisons the outputs that are whole, or the others. In-out ones are read.
static tapml_status poison_outputs(struct guard *guard, int are_whole)
{
    for (uint32_t i = 0; i < guard->use_count; i++) {
        const struct use *use = &guard->uses[i];
        const struct watch *watch = find_watch(guard, use->buffer);
        struct view view;
        if (!is_output(param_of(guard, use))) {
            continue;
        }
        TAPML_TRY(make_view(guard, use, &view));
        if (param_of(guard, use)->kind == TAPML_P_TENSOR_OUT && view.count > 0 &&
            is_whole(&view) == are_whole) {
            TAPML_TRY(are_whole ? poison_whole(guard, watch, &view)
                                : poison_gappy(guard, watch, &view));
        }
    }
    return TAPML_OK;
}

static tapml_status begin(struct guard *guard)
{
    TAPML_TRY(list_watches(guard));
    for (uint32_t i = 0; i < guard->watch_count; i++) {
        const struct watch *watch = &guard->watches[i];
        TAPML_TRY(watch->is_weight ? begin_weight(guard, watch->buffer)
                                   : read_image(guard, watch, watch->before));
    }
    // Those with gaps write their whole buffers as they were.
    TAPML_TRY(poison_outputs(guard, 0));
    return poison_outputs(guard, 1);
}

// -- After the call ----------------------------------------------------------------------------

// Looks for poison in an output by whole words, of which a number alone may have the bits of a
// half.
static void find_unwritten(struct guard *guard,
                           const struct use *use,
                           const struct view *view,
                           const unsigned char *dense)
{
    const uint64_t step =
        view->element_bytes > sizeof(uint32_t) ? view->element_bytes : sizeof(uint32_t);
    unsigned char expected[sizeof(uint64_t)];
    poison(expected, sizeof(expected));
    for (uint64_t at = 0; at + step <= view->count * view->element_bytes; at += step) {
        if (memcmp(dense + at, expected, step) == 0) {
            accuse(guard, GUARD_UNWRITTEN, use);
            (void)snprintf(guard->violation.what, sizeof(guard->violation.what),
                           "'%.60s' was not written from element %" PRIu64 ", poison is left",
                           param_of(guard, use)->name, at / view->element_bytes);
            return;
        }
    }
}

// Checks what was written of an output, and takes it out of the comparison.
static tapml_status check_output(struct guard *guard, const struct use *use)
{
    const struct watch *watch = find_watch(guard, use->buffer);
    struct view view;
    void *dense = NULL;
    TAPML_TRY(make_view(guard, use, &view));
    if (view.count == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(dense_need(guard, &view, &dense));
    gather(&view, watch->after, dense);
    if (param_of(guard, use)->kind == TAPML_P_TENSOR_OUT && guard->violation.kind == GUARD_CLEAN) {
        find_unwritten(guard, use, &view, dense);
    }
    scatter(&view, dense, watch->before);
    return TAPML_OK;
}

static tapml_status check_watch(struct guard *guard, const struct watch *watch)
{
    const uint64_t size = readable_bytes(watch->buffer);
    if (watch->is_weight) {
        return check_weight(guard, watch);
    }
    const uint64_t at = first_difference(watch->before, watch->after, size);
    if (at < size) {
        accuse_byte(guard, watch->use, at);
    }
    return TAPML_OK;
}

// Makes the redzones whole, so that the same fault is seen again.
static tapml_status mend_redzones(const struct guard *guard)
{
    struct backend *inner = guard->wrapper.inner;
    for (uint32_t i = 0; i < guard->watch_count; i++) {
        const struct guard_buffer *buffer = guard->watches[i].buffer;
        if (buffer->redzone > 0) {
            TAPML_TRY(write_redzones(inner, buffer));
        }
    }
    return backend_wait(inner);
}

static tapml_status report(const struct guard *guard)
{
    const struct backend_call *call = guard->call;
    if (guard->violation.kind == GUARD_CLEAN) {
        return TAPML_OK;
    }
    TAPML_TRY(mend_redzones(guard));
    return status_fail(TAPML_INTERNAL, "%s at '%.100s': %s", call->op->name,
                       call->instance ? call->instance : "", guard->violation.what);
}

// Of several faults a write outside counts more than what is unwritten.
static tapml_status check(struct guard *guard)
{
    for (uint32_t i = 0; i < guard->watch_count; i++) {
        if (guard->watches[i].after) {
            TAPML_TRY(read_image(guard, &guard->watches[i], guard->watches[i].after));
        }
    }
    TAPML_TRY(backend_wait(guard->wrapper.inner));
    for (uint32_t i = 0; i < guard->use_count; i++) {
        if (is_output(param_of(guard, &guard->uses[i]))) {
            TAPML_TRY(check_output(guard, &guard->uses[i]));
        }
    }
    for (uint32_t i = 0; i < guard->watch_count; i++) {
        if (guard->violation.kind != GUARD_OUTSIDE) {
            TAPML_TRY(check_watch(guard, &guard->watches[i]));
        }
    }
    return report(guard);
}

static tapml_status perform(struct guard *guard, const struct backend_call *call)
{
    struct backend *inner = guard->wrapper.inner;
    TAPML_TRY(backend_wait(inner)); // Not part of the time.
    const uint64_t begin_ns = clock_now_ns();
    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_wait(inner));
    guard->time_ns = clock_now_ns() - begin_ns;
    return TAPML_OK;
}

// What is queued around a call that failed writes images, and reads them.
static tapml_status settle(const struct guard *guard, tapml_status failure)
{
    char message[512];
    (void)snprintf(message, sizeof(message), "%s", status_message());
    (void)backend_wait(guard->wrapper.inner);
    return status_fail(failure, "%s", message);
}

static tapml_status guard_call(struct backend *backend, const struct backend_call *call)
{
    struct guard *guard = (struct guard *)backend;
    struct backend_call inner_call = *call;
    guard->call = call;
    guard->violation = (struct guard_violation){0};
    guard->time_ns = 0;
    guard->watch_count = 0;
    TAPML_TRY(translate(guard, &inner_call.args));
    if (guard->is_ignoring) {
        return perform(guard, &inner_call);
    }
    tapml_status status = begin(guard);
    if (status == TAPML_OK) {
        status = guard->is_measuring ? perform(guard, &inner_call)
                                     : backend_call(guard->wrapper.inner, &inner_call);
    }
    return status == TAPML_OK ? check(guard) : settle(guard, status);
}

// -- The guard ---------------------------------------------------------------------------------

static const struct backend_info *guard_info(const struct backend *backend)
{
    return &((const struct guard *)backend)->info;
}

static void guard_release(struct backend *backend)
{
    guard_destroy((struct guard *)backend);
}

tapml_status guard_create(struct backend *inner, struct guard **out_guard)
{
    enum { REDZONES = 2 * GUARD_REDZONE_BYTES };
    struct guard *guard = alloc_new(sizeof(*guard));
    if (!guard) {
        return status_no_memory();
    }
    guard->info = *backend_info(inner);
    // Weights get buffers with redzones: memory of the host that a worker wraps has none, and who
    // writes it ends there, where a guard would say what he did.
    if (guard->info.borrowing == BACKEND_BORROWS_BUFFERS) {
        guard->info.borrowing = BACKEND_BORROWS_SOURCES;
    }
    if (guard->info.buffer_bytes_max > 0) {
        const uint64_t most = guard->info.buffer_bytes_max;
        guard->info.buffer_bytes_max = most > REDZONES ? most - REDZONES : 1;
    }
    guard->vt = backend_forward_vt;
    guard->vt.release = guard_release;
    guard->vt.info = guard_info;
    guard->vt.buffer_new = guard_buffer_new;
    guard->vt.buffer_wrap = guard_buffer_wrap;
    guard->vt.buffer_free = guard_buffer_free;
    guard->vt.write = guard_write;
    guard->vt.read = guard_read;
    guard->vt.fill = guard_fill;
    guard->vt.map = guard_map;
    guard->vt.unmap = guard_unmap;
    guard->vt.call = guard_call;
    guard->wrapper = (struct backend_wrapper){.backend = {.vt = &guard->vt}, .inner = inner};
    guard->is_measuring = 1;
    *out_guard = guard;
    return TAPML_OK;
}

void guard_destroy(struct guard *guard)
{
    if (guard) {
        struct room *const rooms[] = {
            &guard->use_room,  &guard->watch_room, &guard->argument_room, &guard->tensor_room,
            &guard->list_room, &guard->image_room, &guard->dense_room};
        for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
            alloc_free(rooms[i]->memory);
        }
        backend_forget(&guard->wrapper.backend);
        alloc_free(guard);
    }
}

struct backend *guard_backend(struct guard *guard)
{
    return &guard->wrapper.backend;
}

void guard_watch(struct guard *guard, int is_watching)
{
    guard->is_ignoring = !is_watching;
}

void guard_measure(struct guard *guard, int is_measuring)
{
    guard->is_measuring = is_measuring;
}

const void *guard_found(const struct guard *guard, const tapml_object *buffer)
{
    const struct watch *watch = find_watch(guard, (const struct guard_buffer *)buffer);
    return watch && !watch->is_weight ? watch->after + watch->buffer->redzone : NULL;
}

const struct guard_violation *guard_violation(const struct guard *guard)
{
    return &guard->violation;
}

uint64_t guard_time_ns(const struct guard *guard)
{
    return guard->time_ns;
}
