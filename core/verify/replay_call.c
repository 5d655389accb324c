// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/replay_call.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/stages.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"
#include "verify/guard_buffer.h"
#include "verify/recast.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Of the machine's memory, the arguments of a case may take one.
enum { MEMORY_PARTS = 4 };

// Copies of weights that are kept while another instance is replayed.
enum { WEIGHT_BYTES_MAX = 32 << 20 };

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || case_is_output(argument);
}

// Cases of an instance come one after another, so that a weight of another one is not needed soon.
static tapml_status limit_weights(struct replay_site *site, const char *instance)
{
    const struct hash name = hash_bytes(instance, strlen(instance));
    const int is_other = !hash_equal(name, site->instance);
    site->instance = name;
    return is_other && residency_copied_bytes(site->weights) > WEIGHT_BYTES_MAX
               ? replay_site_renew(site)
               : TAPML_OK;
}

// -- What the case is ----------------------------------------------------------------------------

static tapml_status skip(struct replay_call *call, enum replay_outcome outcome, const char *reason)
{
    call->outcome = outcome;
    (void)snprintf(call->reason, sizeof(call->reason), "%s", reason);
    return TAPML_OK;
}

// Gives the case the form in which the backend gets it.
static tapml_status recast(struct replay_call *call)
{
    const struct backend_info *info = backend_info(call->site->backend);
    if (!recast_is_needed(call->given, info)) {
        return TAPML_OK;
    }
    struct carved_case *item = arena_new(call->arena, sizeof(*item));
    if (!item) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < call->given->argument_count; i++) {
        TAPML_TRY(case_check_argument(&call->given->arguments[i]));
    }
    TAPML_TRY(recast_case(call->given, call->schema, info, call->arena, item));
    call->item = item;
    return TAPML_OK;
}

// Type and shape of an argument; the memory comes later.
static void describe(struct replay_call *call, uint32_t index)
{
    const struct case_argument *argument = &call->item->arguments[index];
    tapml_tensor *tensor = &call->slots[index].tensor;
    const int is_dense = shape_is_dense(argument->shape, argument->stride, argument->rank);
    *tensor = (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor),
        .dtype = argument->dtype,
        .rank = argument->rank,
        .shape = argument->rank > 0 ? argument->shape : NULL,
        .stride = argument->rank > 0 && !is_dense ? argument->stride : NULL,
        .encoding = argument->encoding,
        .offset = argument->offset_bytes,
    };
    call->args[index].u.p = tensor;
}

static tapml_status describe_list(struct replay_call *call, uint32_t index)
{
    const struct case_argument *argument = &call->item->arguments[index];
    const tapml_tensor *const *list = NULL;
    TAPML_TRY(case_list(argument, call->arena, &call->slots[index].list, &list));
    call->args[index].count = (uint32_t)argument->shape[0];
    call->args[index].u.p = list;
    return TAPML_OK;
}

static tapml_status describe_all(struct replay_call *call)
{
    const uint32_t count = call->op->n_params;
    call->args = arena_array(call->arena, count, sizeof(*call->args));
    call->slots = arena_array(call->arena, count, sizeof(*call->slots));
    if (!call->args || !call->slots) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct case_argument *argument = &call->item->arguments[i];
        TAPML_TRY(case_check_argument(argument));
        call->args[i].kind = argument->kind;
        if (argument->kind == TAPML_P_I64) {
            call->args[i].u.i = argument->i;
        } else if (argument->kind == TAPML_P_F64) {
            call->args[i].u.d = argument->d;
        } else if (is_tensor(argument)) {
            describe(call, i);
        } else if (argument->kind == TAPML_P_TENSORS_IN) {
            TAPML_TRY(describe_list(call, i));
        }
    }
    return TAPML_OK;
}

static tapml_status
check_number(const tapml_param *param, double value, int64_t least, int64_t largest)
{
    if (value < (double)least || value > (double)largest) {
        return status_fail(TAPML_INVALID,
                           "parameter '%s' has the value %.0f, expected %" PRId64 " .. %" PRId64,
                           param->name, value, least, largest);
    }
    return TAPML_OK;
}

static tapml_status check_numbers(const struct case_argument *argument,
                                  const tapml_param *param,
                                  int64_t least,
                                  int64_t largest)
{
    const size_t element_bytes = dtype_bytes(argument->dtype);
    const uint64_t count = argument->content_bytes / element_bytes;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *data = argument->before;
        double value = 0;
        convert_to_f64(argument->dtype, data + i * element_bytes, 1, &value);
        TAPML_TRY(check_number(param, value, least, largest));
    }
    return TAPML_OK;
}

// Whole numbers choose rows, and a case may come from someone else: they must lie in their domain,
// or a kernel reads what is not its own.
static tapml_status check_domain(const struct replay_call *call, uint32_t index)
{
    const struct case_argument *argument = &call->item->arguments[index];
    const tapml_param *param = call->op->params[index];
    const struct expression *domain = call->schema->params[index].domain;
    const int is_index = argument->kind == TAPML_P_TENSOR_IN && !argument->encoding &&
                         !dtype_is_float(argument->dtype) && argument->before;
    if ((argument->kind != TAPML_P_I64 && !is_index) || !domain) {
        return TAPML_OK;
    }
    int64_t least = 0;
    int64_t largest = 0;
    TAPML_TRY(expression_range(&call->inferred.scope, domain, &least, &largest));
    return is_index ? check_numbers(argument, param, least, largest)
                    : check_number(param, (double)argument->i, least, largest);
}

static tapml_status check_region(const struct replay_call *call, uint32_t index)
{
    const struct case_argument *argument = &call->item->arguments[index];
    const struct infer_region *region = &call->inferred.regions[index];
    if (!is_tensor(argument) || !case_is_state(argument)) {
        return TAPML_OK;
    }
    if (region->begin != argument->region_begin || region->end != argument->region_end) {
        return status_fail(TAPML_INVALID,
                           "parameter '%s' has rows %" PRId64 " .. %" PRId64
                           " of its state, the call touches %" PRId64 " .. %" PRId64,
                           argument->name, argument->region_begin, argument->region_end,
                           region->begin, region->end);
    }
    return TAPML_OK;
}

// What a plugin trusts.
static tapml_status check_call(const struct replay_call *call)
{
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        TAPML_TRY(check_domain(call, i));
        TAPML_TRY(check_region(call, i));
    }
    return TAPML_OK;
}

static tapml_status check_support(struct replay_call *call)
{
    struct backend *backend = call->site->backend;
    char reason[sizeof(call->reason)];
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    if (!backend_has_op(backend, call->op)) {
        (void)snprintf(reason, sizeof(reason), "has no op '%s'", call->op->name);
        return skip(call, REPLAY_UNSUPPORTED, reason);
    }
    TAPML_TRY(backend_supports(backend, call->schema, call->args, &answer));
    if (answer.grade == TAPML_SUPPORT_NO) {
        const char *given = answer.reason[0] != 0 ? answer.reason : "gives no reason";
        return skip(call, REPLAY_UNSUPPORTED, given);
    }
    return TAPML_OK;
}

// What a backend of a reduced dtype gets may be of types that the op does not take.
static tapml_status match(struct replay_call *call)
{
    const tapml_status status = infer_call(call->schema, call->args, &call->inferred);
    const int is_cast = call->item != call->given;
    return status == TAPML_INVALID && is_cast ? skip(call, REPLAY_UNSUPPORTED, status_message())
                                              : status;
}

static tapml_status find_weight(const struct replay_call *call,
                                const struct case_argument *argument,
                                const struct checkpoint_tensor **out_weight)
{
    const struct checkpoint_tensor *weight =
        call->site->checkpoint ? checkpoint_find(call->site->checkpoint, argument->origin) : NULL;
    if (!weight) {
        return status_fail(TAPML_INVALID, "%s weight '%.100s'",
                           call->site->checkpoint ? "the checkpoint has no"
                                                  : "there is no checkpoint with the",
                           argument->origin);
    }
    const tapml_tensor *form = &weight->tensor;
    const unsigned takes = backend_info(call->site->backend)->takes;
    const struct encoding_form there = encoding_on_device(form->encoding, form->dtype, takes);
    const int is_same =
        form->encoding == argument->encoding && form->dtype == argument->dtype
            ? weight->bytes == argument->base_bytes // Else it was spread or widened.
            : there.encoding == argument->encoding && there.dtype == argument->dtype;
    if (!is_same) {
        return status_fail(
            TAPML_INVALID,
            "weight '%s' is %s with %" PRIu64 " bytes, the case had %s with %" PRIu64,
            argument->origin, encoding_name(weight->tensor.encoding, weight->tensor.dtype),
            weight->bytes, encoding_name(argument->encoding, argument->dtype),
            argument->base_bytes);
    }
    *out_weight = weight;
    return TAPML_OK;
}

static int is_same_shape(const struct case_argument *argument, const tapml_tensor *tensor)
{
    return argument->rank == tensor->rank && argument->offset_bytes == 0 &&
           (tensor->rank == 0 ||
            memcmp(argument->shape, tensor->shape, tensor->rank * sizeof(*tensor->shape)) == 0) &&
           shape_is_dense(argument->shape, argument->stride, argument->rank);
}

// A weight of the checkpoint, or a view of one.
static tapml_status bind_weight(struct replay_call *call, uint32_t index)
{
    const struct case_argument *argument = &call->item->arguments[index];
    const struct checkpoint_tensor *weight = NULL;
    const tapml_tensor *tensor = NULL;
    TAPML_TRY(find_weight(call, argument, &weight));
    const struct residency_key key = {argument->origin, weight->tensor.dtype,
                                      weight->tensor.encoding, weight->spans};
    TAPML_TRY(residency_get(call->site->weights, &key, weight->data, &weight->tensor, &tensor));
    if (is_same_shape(argument, &weight->tensor)) {
        call->args[index].u.p = tensor;
    } else if (tensor->encoding) {
        return status_fail(TAPML_INVALID, "weight '%s' is encoded and has another shape",
                           argument->origin);
    } else if (tensor->next) {
        return skip(call, REPLAY_SKIPPED, "a view of a weight that comes in panels");
    } else {
        call->slots[index].tensor.buffer = tensor->buffer;
        call->slots[index].tensor.offset += tensor->offset;
    }
    return TAPML_OK;
}

// The rows of a read state that the call reads: the other rows of its pages stay poisoned.
static struct case_argument region_view(const struct case_argument *argument, const void **contents)
{
    struct case_argument region = *argument;
    const uint64_t rows = (uint64_t)(argument->kept_end - argument->kept_begin);
    const uint64_t skipped = (uint64_t)(argument->region_begin - argument->kept_begin);
    if (rows > 0) {
        const unsigned char *data = *contents;
        *contents = data + skipped * (argument->content_bytes / rows);
    }
    region.kept_begin = argument->region_begin;
    region.kept_end = argument->region_end;
    return case_content_view(&region);
}

// What the buffer of an argument has before the call.
static void draw(const struct case_argument *argument, struct replay_slot *slot)
{
    const int is_read_state = case_is_state(argument) && !case_is_output(argument);
    const void *contents = argument->before;
    guard_buffer_poison(slot->image, slot->size);
    if (contents) {
        const struct case_argument view =
            is_read_state ? region_view(argument, &contents) : case_content_view(argument);
        convert_scatter(contents, view.shape, view.stride, view.rank, dtype_bytes(view.dtype),
                        slot->image + view.offset_bytes);
    }
}

static int has_memory(const struct replay_call *call, uint32_t index)
{
    return is_tensor(&call->item->arguments[index]) || call->slots[index].list;
}

static int has_buffer(const struct replay_call *call, uint32_t index)
{
    return has_memory(call, index) && !case_is_reference(&call->item->arguments[index]);
}

// What the arguments take is asked for before any of it is made: a file may claim more than there
// is. A buffer has its image beside it, and what the guard reads of it.
static tapml_status check_memory(struct replay_call *call)
{
    const uint64_t memory = alloc_memory_bytes();
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const struct case_argument *argument = &call->item->arguments[i];
        if (has_buffer(call, i)) {
            bytes += argument->base_bytes; // At most 2^32 each.
        }
    }
    if (memory == 0 || bytes <= memory / MEMORY_PARTS) {
        return TAPML_OK;
    }
    char reason[128];
    (void)snprintf(reason, sizeof(reason),
                   "its arguments take %" PRIu64 " bytes, more than a quarter of the %" PRIu64
                   " of this machine",
                   bytes, memory);
    return skip(call, REPLAY_SKIPPED, reason);
}

// Draws what the buffers of the call have before it.
static tapml_status draw_all(struct replay_call *call)
{
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const struct case_argument *argument = &call->item->arguments[i];
        struct replay_slot *slot = &call->slots[i];
        const uint64_t grains =
            (argument->base_bytes + TAPML_TRANSFER_GRAIN - 1) / TAPML_TRANSFER_GRAIN;
        if (!has_buffer(call, i)) {
            continue;
        }
        slot->size = (grains > 0 ? grains : 1) * TAPML_TRANSFER_GRAIN;
        slot->image = arena_new(call->images, slot->size);
        if (!slot->image) {
            return status_no_memory();
        }
        draw(argument, slot);
    }
    return TAPML_OK;
}

static tapml_status bind_buffer(struct replay_call *call, uint32_t index)
{
    struct replay_site *site = call->site;
    const struct case_argument *argument = &call->item->arguments[index];
    const uint64_t largest = backend_info(site->backend)->buffer_bytes_max;
    struct replay_slot *slot = &call->slots[index];
    if (largest > 0 && argument->base_bytes > largest) {
        char reason[128];
        (void)snprintf(reason, sizeof(reason),
                       "'%.40s' has %" PRIu64 " bytes, its buffers at most %" PRIu64,
                       argument->name, argument->base_bytes, largest);
        return skip(call, REPLAY_UNSUPPORTED, reason);
    }
    TAPML_TRY(spare_buffers_take(&site->spare, slot->size, &slot->buffer));
    slot->tensor.buffer = slot->buffer;
    for (int64_t i = 0; slot->list && i < argument->shape[0]; i++) {
        slot->list[i].buffer = slot->buffer;
    }
    struct guard_buffer *own = guard_buffer_own(slot->buffer);
    own->given = case_is_state(argument) ? slot->image : NULL;
    own->was_other = 0;
    return backend_write(site->backend, slot->buffer, 0, slot->image, slot->size);
}

static tapml_status bind_all(struct replay_call *call)
{
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        if (has_memory(call, i) && call->outcome == REPLAY_RAN) {
            TAPML_TRY(has_buffer(call, i) ? bind_buffer(call, i) : bind_weight(call, i));
        }
    }
    return TAPML_OK;
}

tapml_status replay_call_describe(struct replay_call *call)
{
    TAPML_TRY(case_check_op(call->item, call->op));
    TAPML_TRY(recast(call));
    TAPML_TRY(describe_all(call));
    TAPML_TRY(match(call));
    return call->outcome == REPLAY_RAN ? check_call(call) : TAPML_OK;
}

tapml_status replay_call_ask(struct replay_call *call)
{
    return check_support(call);
}

tapml_status replay_call_draw(struct replay_call *call)
{
    const enum stages_kind before = stages_enter(STAGES_PREPARE);
    tapml_status status = check_memory(call);
    if (status == TAPML_OK && call->outcome == REPLAY_RAN) {
        status = draw_all(call);
    }
    stages_return(before, status == TAPML_OK ? replay_call_bytes(call) : 0);
    return status;
}

tapml_status replay_call_bind(struct replay_call *call)
{
    TAPML_TRY(limit_weights(call->site, call->item->instance));
    TAPML_TRY(bind_all(call));
    // Weights may have come in panels.
    return call->outcome == REPLAY_RAN ? infer_call(call->schema, call->args, &call->inferred)
                                       : TAPML_OK;
}

uint64_t replay_call_bytes(const struct replay_call *call)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        bytes += call->slots[i].size;
    }
    return bytes;
}
