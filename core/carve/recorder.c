// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/recorder.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/table.h"
#include "carve/seen.h"
#include "carve/writer.h"
#include "graph/infer.h"
#include "model/checkpoint.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PHASE_TEXT = 16, CLASS_TEXT = 512, CHUNK = 256, LINE_BYTES = 512 };

struct recorder {
    struct backend_wrapper wrapper; // First: a backend is a recorder.
    struct backend_vt vt;
    struct writer *writer;
    struct recorder_options options;

    int is_in_step;
    struct hash prompt;
    int64_t step;
    int64_t tokens;
    char phase[PHASE_TEXT];
    struct table parts; // Of an instance: its calls in this step.

    struct seen seen;
    struct table weights; // Names that the writer was told.

    struct recorder_counts counts;
};

// A read that is under way: a view of a buffer, which becomes dense when it has come.
struct fetch {
    unsigned char *raw;
    size_t skip; // From the start of `raw` to the first element.
    struct case_argument view;
    void *dense;
};

// One call while it is recorded.
struct recording {
    struct recorder *recorder;
    const struct backend_call *call;
    struct writer_item *item;
    struct case_argument *arguments;
    struct fetch *fetches;
    uint32_t fetch_count;
};

static int is_weight(const struct case_argument *argument)
{
    return (argument->effects & TAPML_E_WEIGHT) != 0;
}

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || case_is_output(argument);
}

static int is_written_state(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_INOUT && case_is_state(argument);
}

// Type, shape and place of a tensor; a weight in panels is described as the whole that it is.
static void describe_tensor(const tapml_tensor *tensor, struct case_argument *argument)
{
    argument->dtype = tensor->dtype;
    argument->encoding = tensor->encoding;
    argument->rank = tensor->rank;
    argument->offset_bytes = tensor->offset;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        argument->shape[i] = tensor->shape[i];
    }
    for (const tapml_tensor *panel = tensor->next; panel; panel = panel->next) {
        argument->shape[0] += panel->shape[0];
    }
    if (tensor->stride && !tensor->next) {
        memcpy(argument->stride, tensor->stride, tensor->rank * sizeof(*argument->stride));
    } else {
        shape_dense_strides(argument->shape, argument->rank, argument->stride);
    }
}

// The rows that a call touches, and whole pages around them.
static tapml_status describe_state(const struct recording *recording,
                                   const struct expression_scope *scope,
                                   uint32_t index,
                                   struct case_argument *argument)
{
    const struct backend_call *call = recording->call;
    TAPML_TRY(infer_region(call->op, index, call->args, scope, &argument->region_begin,
                           &argument->region_end));
    const int64_t pages = (argument->region_end + CASE_PAGE_ROWS - 1) / CASE_PAGE_ROWS;
    const int64_t end = pages * CASE_PAGE_ROWS;
    argument->kept_begin = argument->region_begin / CASE_PAGE_ROWS * CASE_PAGE_ROWS;
    argument->kept_end = end < argument->shape[0] ? end : argument->shape[0];
    return TAPML_OK;
}

static int is_like(const tapml_tensor *a, const tapml_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->encoding == b->encoding && !b->next &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape)) == 0);
}

// A list becomes a stack along a first axis.
static tapml_status describe_list(const tapml_value *value, struct case_argument *argument)
{
    const tapml_tensor *const *list = value->u.p;
    const tapml_tensor *first = list[0];
    uint64_t each_bytes = 0;
    for (uint32_t i = 0; i < value->count; i++) {
        if (!is_like(first, list[i])) {
            return status_fail(TAPML_UNIMPLEMENTED,
                               "its tensors differ or lie in panels, which no case can hold");
        }
    }
    if (first->rank + 1 > TAPML_MAX_RANK || value->count > CASE_LIST_MAX) {
        return status_fail(TAPML_UNIMPLEMENTED, "%u tensors of rank %u, which no case can hold",
                           value->count, first->rank);
    }
    argument->dtype = first->dtype;
    argument->encoding = first->encoding;
    argument->rank = first->rank + 1;
    argument->shape[0] = value->count;
    for (uint32_t i = 0; i < first->rank; i++) {
        argument->shape[i + 1] = first->shape[i];
    }
    shape_dense_strides(argument->shape, argument->rank, argument->stride);
    TAPML_TRY(
        encoding_bytes(first->encoding, first->dtype, first->shape, first->rank, &each_bytes));
    if (__builtin_mul_overflow(each_bytes, (uint64_t)value->count, &argument->base_bytes)) {
        return status_fail(TAPML_INVALID, "%u tensors of %" PRIu64 " bytes are too large",
                           value->count, each_bytes);
    }
    TAPML_TRY(case_check_layout(argument));
    return case_content_bytes(argument, &argument->content_bytes);
}

static tapml_status describe_argument(const struct recording *recording,
                                      const struct expression_scope *scope,
                                      uint32_t index,
                                      struct case_argument *argument)
{
    const struct backend_call *call = recording->call;
    const tapml_value *value = &call->args[index];
    const tapml_param *param = call->op->params[index];
    const struct backend_origin *origin = &call->origins[index];
    struct arena *arena = recording->item->arena;
    argument->name = arena_text(arena, param->name);
    argument->origin = arena_text(arena, origin->name ? origin->name : "");
    argument->kind = value->kind;
    argument->effects = param->effects;
    if (!argument->name || !argument->origin) {
        return status_no_memory();
    }
    if (value->kind == TAPML_P_I64) {
        argument->i = value->u.i;
    }
    if (value->kind == TAPML_P_F64) {
        argument->d = value->u.d;
    }
    if (value->kind == TAPML_P_TENSORS_IN) {
        return describe_list(value, argument);
    }
    if (!is_tensor(argument)) {
        return TAPML_OK;
    }
    const tapml_tensor *tensor = value->u.p;
    if (tensor->encoding && encoding_find(tensor->encoding->id) != tensor->encoding) {
        return status_fail(TAPML_UNIMPLEMENTED, "has encoding '%s', which no case can hold",
                           tensor->encoding->id);
    }
    describe_tensor(tensor, argument);
    argument->base_bytes = origin->base_bytes;
    if (case_is_state(argument)) {
        TAPML_TRY(describe_state(recording, scope, index, argument));
    }
    TAPML_TRY(case_check_layout(argument));
    return case_content_bytes(argument, &argument->content_bytes);
}

// What a case can hold of an op.
static tapml_status check_op(const tapml_op *op)
{
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < op->n_params; i++) {
        const uint32_t kind = op->params[i]->kind;
        outputs += kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;
    }
    return outputs <= STORE_OUTPUTS_MAX
               ? TAPML_OK
               : status_fail(TAPML_UNIMPLEMENTED,
                             "cannot carve '%s': it has %u outputs, at most %d are recorded",
                             op->name, outputs, STORE_OUTPUTS_MAX);
}

// At most: an argument that is no list counts as one.
static size_t count_tensors(const struct backend_call *call)
{
    size_t count = 0;
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        count += call->args[i].kind == TAPML_P_TENSORS_IN ? call->args[i].count : 1;
    }
    return count;
}

static tapml_status describe_call(struct recording *recording)
{
    const struct backend_call *call = recording->call;
    struct arena *arena = recording->item->arena;
    struct expression_scope scope;
    TAPML_TRY(check_op(call->op));
    TAPML_TRY(infer_call(call->op, call->args, &scope));
    recording->arguments = arena_array(arena, call->op->n_params, sizeof(*recording->arguments));
    recording->fetches = arena_array(arena, count_tensors(call), sizeof(*recording->fetches));
    if (!recording->arguments || !recording->fetches) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const tapml_status status =
            describe_argument(recording, &scope, i, &recording->arguments[i]);
        if (status != TAPML_OK) {
            return status_explain(status, "parameter '%s'", call->op->params[i]->name);
        }
    }
    return TAPML_OK;
}

// Begins to read a view of a buffer; `dense` has it after `fetches_end`.
static tapml_status fetch_view(struct recording *recording,
                               const struct case_argument *layout,
                               tapml_object *buffer,
                               void *dense)
{
    const struct case_argument view = *layout;
    int64_t span = 0;
    TAPML_TRY(shape_span(view.shape, view.stride, view.rank, &span));
    if (span == 0) {
        return TAPML_OK;
    }
    const uint64_t grain = TAPML_TRANSFER_GRAIN;
    const uint64_t begin = view.offset_bytes / grain * grain;
    const uint64_t end = view.offset_bytes + (uint64_t)span * dtype_bytes(view.dtype);
    const uint64_t size = (end - begin + grain - 1) / grain * grain;
    unsigned char *raw = alloc_new(size);
    if (!raw) {
        return status_no_memory();
    }
    recording->fetches[recording->fetch_count++] =
        (struct fetch){.raw = raw, .skip = view.offset_bytes - begin, .view = view, .dense = dense};
    return backend_read(recording->recorder->wrapper.inner, buffer, begin, raw, size);
}

// The tensors of a list, one behind the other.
static tapml_status fetch_list(struct recording *recording, uint32_t index, unsigned char *dense)
{
    const tapml_value *value = &recording->call->args[index];
    const tapml_tensor *const *list = value->u.p;
    const uint64_t each = recording->arguments[index].content_bytes / value->count;
    for (uint32_t i = 0; i < value->count; i++) {
        struct case_argument view = {.effects = 0};
        describe_tensor(list[i], &view);
        if (view.encoding) { // Its bytes, as one axis.
            view.rank = 1;
            view.shape[0] = (int64_t)each;
            view.stride[0] = 1;
        }
        TAPML_TRY(fetch_view(recording, &view, list[i]->buffer, dense + i * each));
    }
    return TAPML_OK;
}

// Begins to read what is kept of the argument `index`; `*out_dense` has it after `fetches_end`.
static tapml_status fetch_begin(struct recording *recording, uint32_t index, const void **out_dense)
{
    const struct case_argument *argument = &recording->arguments[index];
    const struct case_argument view = case_content_view(argument);
    const tapml_tensor *tensor = recording->call->args[index].u.p;
    void *dense = arena_new(recording->item->arena, argument->content_bytes);
    if (!dense) {
        return status_no_memory();
    }
    *out_dense = dense;
    return argument->kind == TAPML_P_TENSORS_IN
               ? fetch_list(recording, index, dense)
               : fetch_view(recording, &view, tensor->buffer, dense);
}

static void fetches_free(struct recording *recording)
{
    for (uint32_t i = 0; i < recording->fetch_count; i++) {
        alloc_free(recording->fetches[i].raw);
    }
    recording->fetch_count = 0;
}

// Waits for what was begun, with or without `status` a failure: memory stays until nobody writes
// it.
static tapml_status fetches_end(struct recording *recording, tapml_status status)
{
    if (recording->fetch_count > 0) {
        const tapml_status waited = backend_wait(recording->recorder->wrapper.inner);
        status = status == TAPML_OK ? waited : status;
    }
    for (uint32_t i = 0; status == TAPML_OK && i < recording->fetch_count; i++) {
        const struct fetch *fetch = &recording->fetches[i];
        convert_gather(fetch->raw + fetch->skip, fetch->view.shape, fetch->view.stride,
                       fetch->view.rank, dtype_bytes(fetch->view.dtype), fetch->dense);
    }
    fetches_free(recording);
    return status;
}

enum moment { BEFORE_CALL, AFTER_CALL, WHEN_KEPT };

// Whether the contents of an argument are read at a moment: what the call may change before it,
// what it may have changed after it, and what it leaves alone only when the case is kept.
static int is_fetched(const struct recording *recording, uint32_t index, enum moment moment)
{
    const struct case_argument *argument = &recording->arguments[index];
    switch (moment) {
    case BEFORE_CALL:
        return argument->kind == TAPML_P_TENSOR_INOUT;
    case AFTER_CALL:
        return case_is_output(argument);
    case WHEN_KEPT:
        break;
    }
    const int is_in_memory = is_weight(argument) && recording->call->origins[index].data;
    return argument->kind == TAPML_P_TENSORS_IN ||
           (argument->kind == TAPML_P_TENSOR_IN && !is_in_memory);
}

static tapml_status fetch_all(struct recording *recording, enum moment moment)
{
    tapml_status status = TAPML_OK;
    for (uint32_t i = 0; status == TAPML_OK && i < recording->call->op->n_params; i++) {
        struct case_argument *argument = &recording->arguments[i];
        if (is_fetched(recording, i, moment)) {
            status = fetch_begin(recording, i,
                                 moment == AFTER_CALL ? &argument->after : &argument->before);
        }
    }
    return fetches_end(recording, status);
}

static void count_value(struct store_statistics *statistics, double value)
{
    const double magnitude = fabs(value);
    if (!isfinite(value)) {
        const uint32_t infinity = value > 0 ? STORE_PLUS_INFINITY : STORE_MINUS_INFINITY;
        statistics->non_finite++;
        statistics->non_finite_kinds |= isnan(value) ? STORE_NAN : infinity;
        return;
    }
    statistics->mean_square += value * value;
    statistics->largest = fmax(statistics->largest, magnitude);
    if (magnitude > 0 && (statistics->least == 0 || magnitude < statistics->least)) {
        statistics->least = magnitude;
    }
}

// Of an output, or of the rows that were written of a state.
static void measure(const struct case_argument *argument, struct store_statistics *statistics)
{
    const size_t element_bytes = dtype_bytes(argument->dtype);
    const unsigned char *data = argument->after;
    uint64_t count = argument->content_bytes / element_bytes;
    if (is_written_state(argument) && count > 0) {
        const int64_t kept = argument->kept_end - argument->kept_begin;
        const uint64_t row = count / (uint64_t)kept;
        data += (uint64_t)(argument->region_begin - argument->kept_begin) * row * element_bytes;
        count = (uint64_t)(argument->region_end - argument->region_begin) * row;
    }
    *statistics = (struct store_statistics){.param = argument->name, .count = count};
    for (uint64_t at = 0; at < count; at += CHUNK) {
        double values[CHUNK];
        const size_t here = count - at < CHUNK ? (size_t)(count - at) : CHUNK;
        convert_to_f64(argument->dtype, data + at * element_bytes, here, values);
        for (size_t i = 0; i < here; i++) {
            count_value(statistics, values[i]);
        }
    }
    const uint64_t finite = count - statistics->non_finite;
    statistics->mean_square = finite > 0 ? statistics->mean_square / (double)finite : 0;
}

static tapml_status decide(struct recorder *recorder, struct store_call *call)
{
    int is_new = 0;
    TAPML_TRY(seen_is_new(&recorder->seen, call, &is_new));
    call->is_kept = is_new || recorder->options.keep_all;
    return call->is_kept ? seen_add(&recorder->seen, call) : TAPML_OK;
}

// The number of this call among those of its instance in the step.
static tapml_status count_part(struct recorder *recorder, const char *instance, int64_t *out_part)
{
    size_t calls = 0;
    if (!table_find(&recorder->parts, instance, &calls)) {
        calls = 0;
    }
    *out_part = (int64_t)calls;
    return table_set(&recorder->parts, instance, calls + 1);
}

static tapml_status fill_line(struct recording *recording, uint64_t time_ns)
{
    struct recorder *recorder = recording->recorder;
    struct arena *arena = recording->item->arena;
    struct store_call *line = &recording->item->call;
    char shape_class[CLASS_TEXT];
    TAPML_TRY(case_shape_class(recording->call->op, recording->call->args, shape_class,
                               sizeof(shape_class)));
    *line = (struct store_call){
        .instance = arena_text(arena, recording->call->instance),
        .prompt = recorder->prompt,
        .step = recorder->step,
        .phase = arena_text(arena, recorder->phase),
        .shape_class = arena_text(arena, shape_class),
        .time_ns = time_ns,
    };
    if (!line->instance || !line->phase || !line->shape_class) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < recording->call->op->n_params; i++) {
        if (case_is_output(&recording->arguments[i])) {
            measure(&recording->arguments[i], &line->outputs[line->output_count++]);
        }
    }
    return count_part(recorder, line->instance, &line->part);
}

// Whether the memory behind a weight is what the checkpoint has under that name.
static int is_named(const struct recorder *recorder, const struct backend_origin *origin)
{
    if (!recorder->options.checkpoint) {
        return origin->name != NULL;
    }
    const struct checkpoint_tensor *tensor =
        origin->name ? checkpoint_find(recorder->options.checkpoint, origin->name) : NULL;
    return tensor && tensor->data == origin->data && tensor->bytes == origin->base_bytes;
}

// A weight that is known by name is told to the writer once; another one goes with the case.
static tapml_status take_weight(struct recording *recording, uint32_t index)
{
    struct recorder *recorder = recording->recorder;
    struct writer_item *item = recording->item;
    struct case_argument *argument = &recording->arguments[index];
    const struct backend_origin *origin = &recording->call->origins[index];
    size_t value = 0;
    if (!is_named(recorder, origin)) {
        void *copy = arena_new(item->arena, argument->base_bytes);
        if (!copy) {
            return status_no_memory();
        }
        memcpy(copy, origin->data, argument->base_bytes);
        argument->before = copy;
        return TAPML_OK;
    }
    if (table_find(&recorder->weights, origin->name, &value)) {
        return TAPML_OK;
    }
    item->weights[item->weight_count++] = (struct writer_weight){
        argument->origin, argument->dtype, origin->data, argument->base_bytes};
    return table_set(&recorder->weights, origin->name, 1);
}

static tapml_status take_weights(struct recording *recording)
{
    struct writer_item *item = recording->item;
    const uint32_t count = recording->call->op->n_params;
    item->weights = arena_array(item->arena, count, sizeof(*item->weights));
    if (!item->weights) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const int is_there = is_tensor(&recording->arguments[i]);
        if (is_there && is_weight(&recording->arguments[i]) && recording->call->origins[i].data) {
            TAPML_TRY(take_weight(recording, i));
        }
    }
    return TAPML_OK;
}

static tapml_status fill_case(struct recording *recording)
{
    struct writer_item *item = recording->item;
    const tapml_op *op = recording->call->op;
    TAPML_TRY(fetch_all(recording, WHEN_KEPT));
    TAPML_TRY(take_weights(recording));
    item->item = (struct carved_case){
        .instance = item->call.instance,
        .op_name = arena_text(item->arena, op->name),
        .op_version = op->version,
        .phase = item->call.phase,
        .shape_class = item->call.shape_class,
        .prompt = item->call.prompt,
        .step = item->call.step,
        .part = item->call.part,
        .tokens = recording->recorder->tokens,
        .arguments = recording->arguments,
        .argument_count = op->n_params,
    };
    return item->item.op_name ? TAPML_OK : status_no_memory();
}

static void count_bytes(const struct recording *recording)
{
    struct recorder_counts *counts = &recording->recorder->counts;
    struct writer_item *item = recording->item;
    counts->calls++;
    counts->kept += item->call.is_kept != 0;
    for (uint32_t i = 0; i < recording->call->op->n_params; i++) {
        const struct case_argument *argument = &recording->arguments[i];
        const uint64_t contents = (uint64_t)(argument->before != NULL) + (argument->after != NULL);
        if (is_tensor(argument) && !is_weight(argument)) {
            const uint64_t seen = 1 + (argument->kind == TAPML_P_TENSOR_INOUT);
            counts->bytes_seen += seen * argument->content_bytes;
            counts->bytes_kept += item->call.is_kept ? contents * argument->content_bytes : 0;
        }
        item->bytes += contents * argument->content_bytes;
    }
}

// The line of a call that is not kept, without the contents that were read to decide.
static tapml_status shrink(struct recording *recording)
{
    struct writer_item *line = writer_item_create(WRITER_CALL);
    if (!line) {
        return status_no_memory();
    }
    struct store_call *call = &line->call;
    *call = recording->item->call;
    line->bytes += LINE_BYTES;
    call->instance = arena_text(line->arena, call->instance);
    call->phase = arena_text(line->arena, call->phase);
    call->shape_class = arena_text(line->arena, call->shape_class);
    int is_whole = call->instance && call->phase && call->shape_class;
    for (uint32_t i = 0; i < call->output_count; i++) {
        call->outputs[i].param = arena_text(line->arena, call->outputs[i].param);
        is_whole = is_whole && call->outputs[i].param;
    }
    if (!is_whole) {
        writer_item_destroy(line);
        return status_no_memory();
    }
    writer_item_destroy(recording->item);
    recording->item = line;
    return TAPML_OK;
}

// The call, with what it changes read before and after it.
static tapml_status perform(struct recording *recording)
{
    struct recorder *recorder = recording->recorder;
    TAPML_TRY(describe_call(recording));
    TAPML_TRY(fetch_all(recording, BEFORE_CALL));
    const uint64_t start_ns = clock_now_ns();
    TAPML_TRY(backend_call(recorder->wrapper.inner, recording->call));
    TAPML_TRY(backend_wait(recorder->wrapper.inner));
    const uint64_t time_ns = clock_now_ns() - start_ns;
    TAPML_TRY(fetch_all(recording, AFTER_CALL));
    return fill_line(recording, time_ns);
}

// Shows a call. What the writer would be told of weights goes with the item.
static tapml_status show(struct recording *recording)
{
    const struct recorder_options *options = &recording->recorder->options;
    TAPML_TRY(perform(recording));
    TAPML_TRY(fill_case(recording));
    count_bytes(recording);
    return options->visit(options->user, &recording->item->item, recording->call->op);
}

static tapml_status record(struct recording *recording)
{
    struct recorder *recorder = recording->recorder;
    TAPML_TRY(perform(recording));
    TAPML_TRY(decide(recorder, &recording->item->call));
    if (recording->item->call.is_kept) {
        TAPML_TRY(fill_case(recording));
        count_bytes(recording);
    } else {
        count_bytes(recording);
        TAPML_TRY(shrink(recording));
    }
    writer_push(recorder->writer, recording->item);
    recording->item = NULL;
    return TAPML_OK;
}

static int is_recorded(const struct recorder *recorder, const struct backend_call *call)
{
    const struct recorder_options *options = &recorder->options;
    if (!recorder->is_in_step || !call->instance || !call->origins) {
        return 0;
    }
    return !options->visit || options->wants(options->user, call);
}

static tapml_status record_call(struct backend *backend, const struct backend_call *call)
{
    struct recorder *recorder = (struct recorder *)backend;
    if (!is_recorded(recorder, call)) {
        return backend_call(recorder->wrapper.inner, call);
    }
    struct recording recording = {
        .recorder = recorder, .call = call, .item = writer_item_create(WRITER_CALL)};
    if (!recording.item) {
        return status_no_memory();
    }
    const tapml_status status = recorder->options.visit ? show(&recording) : record(&recording);
    writer_item_destroy(recording.item);
    return status;
}

static void release(struct backend *backend)
{
    (void)backend; // `recorder_destroy` does it: the recorder owns its backend.
}

// A failure leaves the recorder with what it has seen by then, and `user` knows it.
struct memory {
    struct recorder *recorder;
    struct store *store;
    tapml_status status;
    struct hash prompt; // Of the last call,
    int counts;         // and whether it does.
};

static int does_count(struct memory *memory, struct hash prompt)
{
    const int64_t end = memory->recorder->options.prompts_end;
    if (end == 0) {
        return 1;
    }
    if (!hash_equal(prompt, memory->prompt)) {
        memory->prompt = prompt;
        memory->counts = store_prompt_index(memory->store, prompt) < end;
    }
    return memory->counts;
}

static void recall(void *user, const struct store_call *call)
{
    struct memory *memory = user;
    if (call->is_kept && memory->status == TAPML_OK && does_count(memory, call->prompt)) {
        memory->status = seen_add(&memory->recorder->seen, call);
    }
}

// What a run that was interrupted has kept.
static tapml_status recall_all(struct recorder *recorder, const char *store_path)
{
    struct store *store = NULL;
    struct memory memory = {.recorder = recorder, .counts = 1};
    TAPML_TRY(store_open(store_path, 1, &store));
    memory.store = store;
    const tapml_status status = store_visit_calls(store, recall, &memory);
    store_close(store);
    return status == TAPML_OK ? memory.status : status;
}

static tapml_status begin_store(struct recorder *recorder)
{
    TAPML_TRY(recall_all(recorder, recorder->options.store_path));
    return writer_create(recorder->options.store_path, &recorder->writer);
}

tapml_status recorder_create(const struct recorder_options *options, struct recorder **out_recorder)
{
    struct recorder *recorder = alloc_new(sizeof(*recorder));
    if (!recorder) {
        return status_no_memory();
    }
    recorder->vt = backend_forward_vt;
    recorder->vt.release = release;
    recorder->vt.call = record_call;
    recorder->wrapper.backend.vt = &recorder->vt;
    recorder->wrapper.inner = options->inner;
    recorder->options = *options;
    table_init(&recorder->parts);
    seen_init(&recorder->seen);
    table_init(&recorder->weights);
    tapml_status status = options->visit ? TAPML_OK : begin_store(recorder);
    if (status != TAPML_OK) {
        recorder_destroy(recorder);
        return status;
    }
    *out_recorder = recorder;
    return TAPML_OK;
}

// Puts a commit behind the items of the step.
static tapml_status end_step(struct recorder *recorder)
{
    if (!recorder->is_in_step || !recorder->writer) {
        return TAPML_OK;
    }
    struct writer_item *item = writer_item_create(WRITER_COMMIT);
    if (!item) {
        return status_no_memory();
    }
    recorder->is_in_step = 0;
    writer_push(recorder->writer, item);
    return TAPML_OK;
}

tapml_status recorder_finish(struct recorder *recorder)
{
    TAPML_TRY(end_step(recorder));
    return writer_finish(recorder->writer);
}

void recorder_destroy(struct recorder *recorder)
{
    if (!recorder) {
        return;
    }
    writer_destroy(recorder->writer);
    table_release(&recorder->parts);
    seen_release(&recorder->seen);
    table_release(&recorder->weights);
    alloc_free(recorder);
}

struct backend *recorder_backend(struct recorder *recorder)
{
    return &recorder->wrapper.backend;
}

tapml_status recorder_begin_step(
    struct recorder *recorder, struct hash prompt, int64_t step, const char *phase, int64_t tokens)
{
    TAPML_TRY(end_step(recorder));
    if (recorder->writer) {
        TAPML_TRY(writer_status(recorder->writer));
    }
    table_release(&recorder->parts);
    table_init(&recorder->parts);
    recorder->is_in_step = 1;
    recorder->prompt = prompt;
    recorder->step = step;
    recorder->tokens = tokens;
    (void)snprintf(recorder->phase, sizeof(recorder->phase), "%s", phase); // Two short words.
    return TAPML_OK;
}

static tapml_status copy_prompt(const struct store_prompt *prompt, struct writer_item *item)
{
    const size_t id_bytes = (size_t)prompt->id_count * sizeof(*prompt->ids);
    const size_t greedy_bytes = (size_t)prompt->greedy_count * sizeof(*prompt->greedy);
    int32_t *ids = arena_new(item->arena, id_bytes);
    int32_t *greedy = arena_new(item->arena, greedy_bytes);
    const char *text = arena_text(item->arena, prompt->text ? prompt->text : "");
    if (!ids || !greedy || !text) {
        return status_no_memory();
    }
    if (id_bytes > 0) {
        memcpy(ids, prompt->ids, id_bytes);
    }
    if (greedy_bytes > 0) {
        memcpy(greedy, prompt->greedy, greedy_bytes);
    }
    item->prompt = *prompt;
    item->prompt.ids = ids;
    item->prompt.greedy = greedy;
    item->prompt.text = text;
    return TAPML_OK;
}

tapml_status recorder_end_prompt(struct recorder *recorder, const struct store_prompt *prompt)
{
    struct writer_item *item = writer_item_create(WRITER_PROMPT);
    if (!item) {
        return status_no_memory();
    }
    const tapml_status status = copy_prompt(prompt, item);
    if (status != TAPML_OK) {
        writer_item_destroy(item);
        return status;
    }
    item->prompt.hash = recorder->prompt;
    writer_push(recorder->writer, item);
    return end_step(recorder);
}

struct recorder_counts recorder_counts(const struct recorder *recorder)
{
    return recorder->counts;
}
