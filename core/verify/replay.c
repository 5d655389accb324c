// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/replay.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/timeline.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"
#include "verify/recast.h"
#include "verify/spare_buffers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Of the machine's memory, the arguments of a case may take one.
enum { MEMORY_PARTS = 4 };

// Copies of weights that are kept while another instance is replayed.
enum { WEIGHT_BYTES_MAX = 32 << 20 };

struct replay {
    struct guard *guard;
    struct backend *backend; // The guard's.
    const struct checkpoint *checkpoint;
    struct residency *weights;
    struct spare_buffers spare;
    struct hash instance; // Of the name of the last one.
    uint64_t executions;
    struct arena *results; // Of the last run.
};

// An argument of the call at hand.
struct slot {
    tapml_tensor tensor;
    tapml_tensor *list;   // The tensors of an argument that is one; else NULL.
    tapml_object *buffer; // NULL for a weight of the checkpoint.
    uint64_t size;        // Of the buffer.
    unsigned char *image; // What the buffer has before the call.
};

struct running {
    struct replay *replay;
    const struct carved_case *given;
    const struct carved_case *item; // As the backend gets it: given, or recast.
    const struct compiled_op *schema;
    const tapml_op *op;   // Of the schema.
    struct arena *arena;  // What lives as long as the result.
    struct arena *images; // What is needed until the call is done.
    tapml_value *args;
    struct inferred inferred; // Of them.
    struct slot *slots;
    struct replay_result *result;
};

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || case_is_output(argument);
}

static tapml_status make_weights(const struct replay *replay, struct residency **out_weights)
{
    struct residency *weights = NULL;
    TAPML_TRY(residency_create(replay->backend, &weights));
    const tapml_status status = residency_share(weights, replay->checkpoint);
    if (status != TAPML_OK) {
        residency_destroy(weights);
        return status;
    }
    *out_weights = weights;
    return TAPML_OK;
}

tapml_status replay_create(struct backend *backend,
                           const struct checkpoint *checkpoint,
                           struct replay **out_replay)
{
    struct replay *replay = alloc_new(sizeof(*replay));
    if (!replay) {
        return status_no_memory();
    }
    replay->checkpoint = checkpoint;
    tapml_status status = guard_create(backend, &replay->guard);
    if (status == TAPML_OK) {
        guard_measure(replay->guard, 0);
        replay->backend = guard_backend(replay->guard);
        replay->spare.backend = replay->backend;
        status = make_weights(replay, &replay->weights);
    }
    if (status != TAPML_OK) {
        replay_destroy(replay);
        return status;
    }
    *out_replay = replay;
    return TAPML_OK;
}

void replay_destroy(struct replay *replay)
{
    if (!replay) {
        return;
    }
    spare_buffers_release(&replay->spare);
    residency_destroy(replay->weights);
    guard_destroy(replay->guard);
    arena_destroy(replay->results);
    alloc_free(replay);
}

static tapml_status skip(struct running *running, enum replay_outcome outcome, const char *reason)
{
    running->result->outcome = outcome;
    (void)snprintf(running->result->reason, sizeof(running->result->reason), "%s", reason);
    return TAPML_OK;
}

static enum activation activation_of(const struct running *running)
{
    return backend_info(running->replay->backend)->activation;
}

// Gives the case the form in which the backend gets it.
static tapml_status recast(struct running *running)
{
    const struct backend_info *info = backend_info(running->replay->backend);
    if (!recast_is_needed(running->given, info)) {
        return TAPML_OK;
    }
    struct carved_case *item = arena_new(running->arena, sizeof(*item));
    if (!item) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < running->given->argument_count; i++) {
        TAPML_TRY(case_check_argument(&running->given->arguments[i]));
    }
    TAPML_TRY(recast_case(running->given, running->schema, info, running->arena, item));
    running->item = item;
    return TAPML_OK;
}

// Type and shape of an argument; the memory comes later.
static void describe(struct running *running, uint32_t index)
{
    const struct case_argument *argument = &running->item->arguments[index];
    tapml_tensor *tensor = &running->slots[index].tensor;
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
    running->args[index].u.p = tensor;
}

static tapml_status describe_list(struct running *running, uint32_t index)
{
    const struct case_argument *argument = &running->item->arguments[index];
    const tapml_tensor *const *list = NULL;
    TAPML_TRY(case_list(argument, running->arena, &running->slots[index].list, &list));
    running->args[index].count = (uint32_t)argument->shape[0];
    running->args[index].u.p = list;
    return TAPML_OK;
}

static tapml_status describe_all(struct running *running)
{
    const uint32_t count = running->op->n_params;
    running->args = arena_array(running->arena, count, sizeof(*running->args));
    running->slots = arena_array(running->arena, count, sizeof(*running->slots));
    if (!running->args || !running->slots) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct case_argument *argument = &running->item->arguments[i];
        TAPML_TRY(case_check_argument(argument));
        running->args[i].kind = argument->kind;
        if (argument->kind == TAPML_P_I64) {
            running->args[i].u.i = argument->i;
        } else if (argument->kind == TAPML_P_F64) {
            running->args[i].u.d = argument->d;
        } else if (is_tensor(argument)) {
            describe(running, i);
        } else if (argument->kind == TAPML_P_TENSORS_IN) {
            TAPML_TRY(describe_list(running, i));
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
static tapml_status check_domain(const struct running *running, uint32_t index)
{
    const struct case_argument *argument = &running->item->arguments[index];
    const tapml_param *param = running->op->params[index];
    const struct expression *domain = running->schema->params[index].domain;
    const int is_index = argument->kind == TAPML_P_TENSOR_IN && !argument->encoding &&
                         !dtype_is_float(argument->dtype) && argument->before;
    if ((argument->kind != TAPML_P_I64 && !is_index) || !domain) {
        return TAPML_OK;
    }
    int64_t least = 0;
    int64_t largest = 0;
    TAPML_TRY(expression_range(&running->inferred.scope, domain, &least, &largest));
    return is_index ? check_numbers(argument, param, least, largest)
                    : check_number(param, (double)argument->i, least, largest);
}

static tapml_status check_region(const struct running *running, uint32_t index)
{
    const struct case_argument *argument = &running->item->arguments[index];
    const struct infer_region *region = &running->inferred.regions[index];
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
static tapml_status check_call(const struct running *running)
{
    for (uint32_t i = 0; i < running->op->n_params; i++) {
        TAPML_TRY(check_domain(running, i));
        TAPML_TRY(check_region(running, i));
    }
    return TAPML_OK;
}

static tapml_status check_support(struct running *running)
{
    struct backend *backend = running->replay->backend;
    char reason[sizeof(running->result->reason)];
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    if (!backend_has_op(backend, running->op)) {
        (void)snprintf(reason, sizeof(reason), "has no op '%s'", running->op->name);
        return skip(running, REPLAY_UNSUPPORTED, reason);
    }
    TAPML_TRY(backend_supports(backend, running->schema, running->args, &answer));
    if (answer.grade == TAPML_SUPPORT_NO) {
        const char *given = answer.reason[0] != 0 ? answer.reason : "gives no reason";
        return skip(running, REPLAY_UNSUPPORTED, given);
    }
    return TAPML_OK;
}

// What a backend of a reduced dtype gets may be of types that the op does not take.
static tapml_status match(struct running *running)
{
    const tapml_status status = infer_call(running->schema, running->args, &running->inferred);
    const int is_cast = running->item != running->given;
    return status == TAPML_INVALID && is_cast ? skip(running, REPLAY_UNSUPPORTED, status_message())
                                              : status;
}

static tapml_status find_weight(const struct running *running,
                                const struct case_argument *argument,
                                const struct checkpoint_tensor **out_weight)
{
    const struct checkpoint_tensor *weight =
        running->replay->checkpoint ? checkpoint_find(running->replay->checkpoint, argument->origin)
                                    : NULL;
    if (!weight) {
        return status_fail(TAPML_INVALID, "%s weight '%.100s'",
                           running->replay->checkpoint ? "the checkpoint has no"
                                                       : "there is no checkpoint with the",
                           argument->origin);
    }
    const tapml_tensor *form = &weight->tensor;
    const unsigned takes = backend_info(running->replay->backend)->takes;
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
static tapml_status bind_weight(struct running *running, uint32_t index)
{
    const struct case_argument *argument = &running->item->arguments[index];
    const struct checkpoint_tensor *weight = NULL;
    const tapml_tensor *tensor = NULL;
    TAPML_TRY(find_weight(running, argument, &weight));
    const struct residency_key key = {argument->origin, weight->tensor.dtype,
                                      weight->tensor.encoding, weight->spans};
    TAPML_TRY(
        residency_get(running->replay->weights, &key, weight->data, &weight->tensor, &tensor));
    if (is_same_shape(argument, &weight->tensor)) {
        running->args[index].u.p = tensor;
    } else if (tensor->encoding) {
        return status_fail(TAPML_INVALID, "weight '%s' is encoded and has another shape",
                           argument->origin);
    } else if (tensor->next) {
        return skip(running, REPLAY_SKIPPED, "a view of a weight that comes in panels");
    } else {
        running->slots[index].tensor.buffer = tensor->buffer;
        running->slots[index].tensor.offset += tensor->offset;
    }
    return TAPML_OK;
}

static void poison(unsigned char *image, uint64_t size)
{
    const uint32_t word = REPLAY_POISON;
    for (uint64_t at = 0; at < size; at += sizeof(word)) {
        memcpy(image + at, &word, sizeof(word));
    }
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
static void draw(const struct case_argument *argument, struct slot *slot)
{
    const int is_read_state = case_is_state(argument) && !case_is_output(argument);
    const void *contents = argument->before;
    poison(slot->image, slot->size);
    if (contents) {
        const struct case_argument view =
            is_read_state ? region_view(argument, &contents) : case_content_view(argument);
        convert_scatter(contents, view.shape, view.stride, view.rank, dtype_bytes(view.dtype),
                        slot->image + view.offset_bytes);
    }
}

static tapml_status bind_buffer(struct running *running, uint32_t index)
{
    struct replay *replay = running->replay;
    const struct case_argument *argument = &running->item->arguments[index];
    const uint64_t largest = backend_info(replay->backend)->buffer_bytes_max;
    struct slot *slot = &running->slots[index];
    const uint64_t grains =
        (argument->base_bytes + TAPML_TRANSFER_GRAIN - 1) / TAPML_TRANSFER_GRAIN;
    slot->size = (grains > 0 ? grains : 1) * TAPML_TRANSFER_GRAIN;
    if (largest > 0 && argument->base_bytes > largest) {
        char reason[128];
        (void)snprintf(reason, sizeof(reason),
                       "'%.40s' has %" PRIu64 " bytes, its buffers at most %" PRIu64,
                       argument->name, argument->base_bytes, largest);
        return skip(running, REPLAY_UNSUPPORTED, reason);
    }
    slot->image = arena_new(running->images, slot->size);
    if (!slot->image) {
        return status_no_memory();
    }
    draw(argument, slot);
    TAPML_TRY(spare_buffers_take(&replay->spare, slot->size, &slot->buffer));
    slot->tensor.buffer = slot->buffer;
    for (int64_t i = 0; slot->list && i < argument->shape[0]; i++) {
        slot->list[i].buffer = slot->buffer;
    }
    struct guard_buffer *own = guard_buffer_own(slot->buffer);
    own->given = case_is_state(argument) ? slot->image : NULL;
    own->was_other = 0;
    return backend_write(replay->backend, slot->buffer, 0, slot->image, slot->size);
}

// What the arguments take is asked for before any of it is made: a file may claim more than there
// is. A buffer has its image beside it, and what the guard reads of it.
static tapml_status check_memory(struct running *running)
{
    const uint64_t memory = alloc_memory_bytes();
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < running->op->n_params; i++) {
        const struct case_argument *argument = &running->item->arguments[i];
        if ((is_tensor(argument) || running->slots[i].list) && !case_is_reference(argument)) {
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
    return skip(running, REPLAY_SKIPPED, reason);
}

static tapml_status bind_all(struct running *running)
{
    for (uint32_t i = 0; i < running->op->n_params; i++) {
        const struct case_argument *argument = &running->item->arguments[i];
        const int has_memory = is_tensor(argument) || running->slots[i].list;
        if (has_memory && running->result->outcome == REPLAY_RAN) {
            TAPML_TRY(case_is_reference(argument) ? bind_weight(running, i)
                                                  : bind_buffer(running, i));
        }
    }
    return TAPML_OK;
}

static tapml_status call(const struct running *running)
{
    struct replay *replay = running->replay;
    const struct backend_call call = {.op = running->op,
                                      .args = running->args,
                                      .inferred = &running->inferred,
                                      .instance = running->item->instance,
                                      .is_extra = running->item->is_derived};
    replay->executions++;
    return backend_call(replay->backend, &call);
}

// The call under the guard. What that finds is a result, not a failure.
static tapml_status call_guarded(const struct running *running)
{
    struct replay_result *result = running->result;
    const struct guard_violation *violation = guard_violation(running->replay->guard);
    const tapml_status status = call(running);
    if (violation->kind == GUARD_CLEAN) {
        return status;
    }
    (void)snprintf(result->reason, sizeof(result->reason), "%s", violation->what);
    return TAPML_OK;
}

// A second run for its time: kernels are made, and nothing is read around it.
static tapml_status call_timed(const struct running *running)
{
    struct guard *guard = running->replay->guard;
    guard_watch(guard, 0);
    const tapml_status status = call(running);
    guard_watch(guard, 1);
    running->result->time_ns = guard_time_ns(guard);
    return status;
}

// Takes what was computed out of what the guard found after the call.
static tapml_status take_output(const struct running *running, uint32_t index)
{
    const struct case_argument *argument = &running->item->arguments[index];
    const struct case_argument *given = &running->given->arguments[index];
    struct replay_output *output = &running->result->outputs[running->result->output_count];
    const void *found = guard_found(running->replay->guard, running->slots[index].buffer);
    ASSERT(found); // It checked the call.
    TAPML_TRY(replay_output_take(argument, found, running->arena, output));
    running->result->output_count++;
    output->expected = given->after;
    if (argument->dtype != given->dtype) {
        TAPML_TRY(recast_widen_output(running->op, activation_of(running), running->arena, output));
    }
    return output->expected
               ? recast_drop_zero_signs(running->given, running->op, running->arena, output)
               : TAPML_OK;
}

// Puts what the guard found at the output that it is about: the first one where it is an input.
static void mark_output(const struct running *running, const struct guard_violation *violation)
{
    struct replay_result *result = running->result;
    const char *param = running->item->arguments[violation->param].name;
    uint32_t at = 0;
    for (uint32_t i = 0; i < result->output_count; i++) {
        at = strcmp(result->outputs[i].param, param) == 0 ? i : at;
    }
    if (result->output_count > 0) {
        result->outputs[at].wrote_outside = violation->kind == GUARD_OUTSIDE;
        result->outputs[at].is_unwritten = violation->kind != GUARD_OUTSIDE;
    }
}

// Loads the weights anew: other cases must not compute with one that a call has corrupted.
static tapml_status renew_weights(struct replay *replay)
{
    struct residency *weights = NULL;
    TAPML_TRY(make_weights(replay, &weights));
    residency_destroy(replay->weights);
    replay->weights = weights;
    return TAPML_OK;
}

// Cases of an instance come one after another, so that a weight of another one is not needed soon.
static tapml_status limit_weights(struct replay *replay, const char *instance)
{
    const struct hash name = hash_bytes(instance, strlen(instance));
    const int is_other = !hash_equal(name, replay->instance);
    replay->instance = name;
    return is_other && residency_copied_bytes(replay->weights) > WEIGHT_BYTES_MAX
               ? renew_weights(replay)
               : TAPML_OK;
}

static tapml_status take_outputs(const struct running *running)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < running->op->n_params; i++) {
        count += case_is_output(&running->item->arguments[i]) ? 1 : 0;
    }
    if (count > REPLAY_OUTPUTS_MAX) {
        return status_fail(TAPML_UNIMPLEMENTED, "it has %u outputs, at most %d are compared", count,
                           REPLAY_OUTPUTS_MAX);
    }
    for (uint32_t i = 0; i < running->op->n_params; i++) {
        if (case_is_output(&running->item->arguments[i])) {
            TAPML_TRY(take_output(running, i));
        }
    }
    return TAPML_OK;
}

// All before the call. Where the case cannot be run, the outcome says so.
static tapml_status prepare(struct running *running)
{
    const struct replay_result *result = running->result;
    TAPML_TRY(case_check_op(running->item, running->op));
    TAPML_TRY(limit_weights(running->replay, running->item->instance));
    TAPML_TRY(recast(running));
    TAPML_TRY(describe_all(running));
    TAPML_TRY(match(running));
    if (result->outcome == REPLAY_RAN) {
        TAPML_TRY(check_call(running));
        TAPML_TRY(check_support(running));
    }
    if (result->outcome == REPLAY_RAN) {
        TAPML_TRY(check_memory(running));
    }
    if (result->outcome == REPLAY_RAN) {
        TAPML_TRY(bind_all(running));
    }
    // Weights may have come in panels.
    return result->outcome == REPLAY_RAN
               ? infer_call(running->schema, running->args, &running->inferred)
               : TAPML_OK;
}

// What a call does to a state says something about its op only if the state was right before.
static tapml_status check_states(struct running *running)
{
    for (uint32_t i = 0; i < running->op->n_params; i++) {
        const struct slot *slot = &running->slots[i];
        if (slot->buffer && guard_buffer_own(slot->buffer)->was_other) {
            char reason[128];
            (void)snprintf(reason, sizeof(reason),
                           "before the call state '%.40s' was not what had been written to it",
                           running->item->arguments[i].name);
            return skip(running, REPLAY_SKIPPED, reason);
        }
    }
    return TAPML_OK;
}

static tapml_status run(struct running *running, int timed)
{
    struct replay_result *result = running->result;
    const struct guard_violation *violation = guard_violation(running->replay->guard);
    TAPML_TRY(prepare(running));
    if (result->outcome != REPLAY_RAN) {
        return TAPML_OK;
    }
    TAPML_TRY(call_guarded(running));
    TAPML_TRY(check_states(running));
    if (result->outcome != REPLAY_RAN) {
        return TAPML_OK;
    }
    TAPML_TRY(take_outputs(running));
    if (violation->kind != GUARD_CLEAN) {
        mark_output(running, violation);
        return violation->is_weight ? renew_weights(running->replay) : TAPML_OK;
    }
    return timed ? call_timed(running) : TAPML_OK;
}

// Ends the use of all that the run has taken: only what is large or of no use later is freed.
static void end(struct running *running)
{
    spare_buffers_end(&running->replay->spare);
    guard_trim(running->replay->guard);
    arena_destroy(running->images);
}

tapml_status replay_run(struct replay *replay,
                        const struct carved_case *item,
                        const struct compiled_op *schema,
                        int timed,
                        struct replay_result *out_result)
{
    struct replay_result result = {.outcome = REPLAY_RAN};
    struct running running = {.replay = replay,
                              .given = item,
                              .item = item,
                              .schema = schema,
                              .op = schema->op,
                              .result = &result};
    arena_destroy(replay->results);
    replay->results = running.arena = arena_create();
    running.images = arena_create();
    const uint64_t begin_ns = timeline_begin(timeline_mine());
    tapml_status status =
        running.arena && running.images ? run(&running, timed) : status_no_memory();
    if (status != TAPML_OK || result.outcome != REPLAY_RAN) {
        // What is under way reads memory of this run; where the device is lost, nothing reads.
        char message[512];
        (void)snprintf(message, sizeof(message), "%s", status_message());
        (void)backend_wait(replay->backend);
        if (status != TAPML_OK) {
            status = status_fail(status, "%.100s: %s", item->instance, message);
        }
    }
    end(&running);
    timeline_end(timeline_mine(), begin_ns,
                 &(struct timeline_span){.kind = "replay",
                                         .name = backend_info(replay->backend)->component,
                                         .detail = item->instance});
    TAPML_TRY(status);
    *out_result = result;
    return TAPML_OK;
}

uint64_t replay_executions(const struct replay *replay)
{
    return replay->executions;
}
