// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/recorder.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/table.h"
#include "carve/fetcher.h"
#include "carve/seen.h"
#include "carve/statistics.h"
#include "carve/writer.h"
#include "model/checkpoint.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PHASE_TEXT = 16, CLASS_TEXT = 512 };

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

    struct fetcher fetcher;
    struct seen seen;
    struct table weights; // Names that the writer was told.

    struct recorder_counts counts;
};

// One call while it is recorded.
struct recording {
    struct recorder *recorder;
    const struct backend_call *call;
    struct writer_item *item;
    struct case_argument *arguments;
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
static void
describe_state(const struct recording *recording, uint32_t index, struct case_argument *argument)
{
    const struct infer_region *region = &recording->call->inferred->regions[index];
    argument->region_begin = region->begin;
    argument->region_end = region->end;
    const int64_t pages = (argument->region_end + CASE_PAGE_ROWS - 1) / CASE_PAGE_ROWS;
    const int64_t end = pages * CASE_PAGE_ROWS;
    argument->kept_begin = argument->region_begin / CASE_PAGE_ROWS * CASE_PAGE_ROWS;
    argument->kept_end = end < argument->shape[0] ? end : argument->shape[0];
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

static tapml_status
describe_argument(const struct recording *recording, uint32_t index, struct case_argument *argument)
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
        describe_state(recording, index, argument);
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

// What is known of a call before it.
static tapml_status begin_line(struct recording *recording)
{
    struct recorder *recorder = recording->recorder;
    struct arena *arena = recording->item->arena;
    struct store_call *line = &recording->item->call;
    char shape_class[CLASS_TEXT];
    TAPML_TRY(case_shape_class(recording->call->inferred, recording->call->args, shape_class,
                               sizeof(shape_class)));
    *line = (struct store_call){
        .instance = arena_text(arena, recording->call->instance),
        .prompt = recorder->prompt,
        .step = recorder->step,
        .phase = arena_text(arena, recorder->phase),
        .shape_class = arena_text(arena, shape_class),
    };
    return line->instance && line->phase && line->shape_class ? TAPML_OK : status_no_memory();
}

static tapml_status describe_call(struct recording *recording)
{
    const struct backend_call *call = recording->call;
    struct arena *arena = recording->item->arena;
    TAPML_TRY(check_op(call->op));
    recording->arguments = arena_array(arena, call->op->n_params, sizeof(*recording->arguments));
    recording->item->blobs = // What went in and what came out.
        arena_array(arena, 2 * (size_t)call->op->n_params, sizeof(*recording->item->blobs));
    if (!recording->arguments || !recording->item->blobs) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const tapml_status status = describe_argument(recording, i, &recording->arguments[i]);
        if (status != TAPML_OK) {
            return status_explain(status, "parameter '%s'", call->op->params[i]->name);
        }
    }
    return begin_line(recording);
}

static struct fetch_from from_of(const struct recording *recording, uint32_t index)
{
    return (struct fetch_from){.argument = &recording->arguments[index],
                               .value = &recording->call->args[index],
                               .name = recording->call->origins[index].name};
}

// Begins to read contents, unless they are there.
static tapml_status
fetch(struct recording *recording, uint32_t index, const void **contents, struct blob **out_blob)
{
    struct writer_item *item = recording->item;
    const struct fetch_from from = from_of(recording, index);
    struct blob *blob = NULL;
    if (*contents) {
        return TAPML_OK;
    }
    const tapml_status status = fetcher_begin(&recording->recorder->fetcher, &from, &blob);
    if (blob) {
        item->blobs[item->blob_count++] = blob;
        item->bytes += blob_is_shared(blob) ? 0 : blob->bytes;
        *contents = blob->data;
        *out_blob = blob;
    }
    return status;
}

// What the call may change, before it.
static tapml_status fetch_before(struct recording *recording)
{
    tapml_status status = TAPML_OK;
    for (uint32_t i = 0; status == TAPML_OK && i < recording->call->op->n_params; i++) {
        struct case_argument *argument = &recording->arguments[i];
        struct blob *blob = NULL;
        if (argument->kind == TAPML_P_TENSOR_INOUT) {
            status = fetch(recording, i, &argument->before, &blob);
        }
    }
    return fetcher_end(&recording->recorder->fetcher, status);
}

// One output, after the call.
static tapml_status fetch_output(struct recording *recording, uint32_t index)
{
    struct case_argument *argument = &recording->arguments[index];
    const struct fetch_from from = from_of(recording, index);
    struct blob *blob = NULL;
    TAPML_TRY(fetch(recording, index, &argument->after, &blob));
    const int is_shared = blob && !recording->recorder->options.visit;
    return is_shared ? fetcher_note(&recording->recorder->fetcher, &from, blob) : TAPML_OK;
}

// All else that a case has: what came out, and what the call left alone.
static tapml_status fetch_after(struct recording *recording)
{
    tapml_status status = TAPML_OK;
    for (uint32_t i = 0; status == TAPML_OK && i < recording->call->op->n_params; i++) {
        struct case_argument *argument = &recording->arguments[i];
        const int is_in_memory = is_weight(argument) && recording->call->origins[i].data;
        struct blob *blob = NULL;
        if (case_is_output(argument)) {
            status = fetch_output(recording, i);
        } else if (argument->kind == TAPML_P_TENSORS_IN ||
                   (argument->kind == TAPML_P_TENSOR_IN && !is_in_memory)) {
            status = fetch(recording, i, &argument->before, &blob);
        }
    }
    return fetcher_end(&recording->recorder->fetcher, status);
}

// Of a written state only the rows that were written are measured.
static struct case_argument measured_part(const struct case_argument *argument)
{
    struct case_argument part = *argument;
    if (is_written_state(argument) && argument->kept_begin < argument->kept_end) {
        const uint64_t kept = (uint64_t)(argument->kept_end - argument->kept_begin);
        const uint64_t written = (uint64_t)(argument->region_end - argument->region_begin);
        part.content_bytes = argument->content_bytes / kept * written;
        part.kept_begin = argument->region_begin;
        part.kept_end = argument->region_end;
    }
    return part;
}

// Statistics of an output: where it lies, unless it has to be fetched for that.
static tapml_status
measure(struct recording *recording, uint32_t index, struct store_statistics *statistics)
{
    struct fetcher *fetcher = &recording->recorder->fetcher;
    const struct case_argument *argument = &recording->arguments[index];
    const struct case_argument part = measured_part(argument);
    const uint64_t count = part.content_bytes / dtype_bytes(argument->dtype);
    struct fetch_from from = from_of(recording, index);
    const void *data = NULL;
    from.argument = &part;
    TAPML_TRY(fetcher_map(fetcher, &from, &data));
    if (data) {
        statistics_measure(argument->dtype, data, count, statistics);
        fetcher_unmap(fetcher, &from);
    } else {
        TAPML_TRY(fetcher_end(fetcher, fetch_output(recording, index)));
        const uint64_t row_bytes =
            count > 0 && is_written_state(argument)
                ? part.content_bytes / (uint64_t)(part.kept_end - part.kept_begin)
                : 0;
        const unsigned char *contents = argument->after;
        contents += (uint64_t)(part.kept_begin - argument->kept_begin) * row_bytes;
        statistics_measure(argument->dtype, contents, count, statistics);
    }
    statistics->param = argument->name;
    return TAPML_OK;
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

// Whether a call will be kept whatever comes out of it.
static tapml_status decide_before(struct recorder *recorder, struct store_call *line)
{
    int has_class = 0;
    TAPML_TRY(seen_has_class(&recorder->seen, line, &has_class));
    line->is_kept = recorder->options.keep_all || !has_class;
    return TAPML_OK;
}

// Whether what came out of a call makes it worth keeping, where that was not known before.
static tapml_status decide_after(struct recorder *recorder, struct store_call *line)
{
    if (!line->is_kept) {
        TAPML_TRY(seen_is_wider(&recorder->seen, line, &line->is_kept));
    }
    return line->is_kept ? seen_add(&recorder->seen, line) : TAPML_OK;
}

static tapml_status measure_all(struct recording *recording)
{
    struct store_call *line = &recording->item->call;
    for (uint32_t i = 0; i < recording->call->op->n_params; i++) {
        if (case_is_output(&recording->arguments[i])) {
            TAPML_TRY(measure(recording, i, &line->outputs[line->output_count++]));
        }
    }
    return TAPML_OK;
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
        argument->before = origin->data;
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
    TAPML_TRY(fetch_after(recording));
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
    }
    item->bytes += arena_size(item->arena);
}

// Contents that were read to decide and are not kept.
static void drop_contents(struct writer_item *item)
{
    while (item->blob_count > 0) {
        blob_unref(item->blobs[--item->blob_count]);
    }
    item->bytes = sizeof(*item);
}

// The buffers that a call writes to.
static void forget_outputs(struct recorder *recorder, const struct backend_call *call)
{
    for (uint32_t i = 0; recorder->fetcher.note_count > 0 && i < call->op->n_params; i++) {
        const uint32_t kind = call->args[i].kind;
        const tapml_tensor *tensor = call->args[i].u.p;
        if (kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT) {
            fetcher_forget(&recorder->fetcher, tensor->buffer);
        }
    }
}

// The call, with what it changes read before it.
static tapml_status perform(struct recording *recording)
{
    struct recorder *recorder = recording->recorder;
    struct store_call *line = &recording->item->call;
    TAPML_TRY(fetch_before(recording));
    forget_outputs(recorder, recording->call);
    const uint64_t start_ns = clock_now_ns();
    TAPML_TRY(backend_call(recorder->wrapper.inner, recording->call));
    TAPML_TRY(backend_wait(recorder->wrapper.inner));
    line->time_ns = clock_now_ns() - start_ns;
    return count_part(recorder, line->instance, &line->part);
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
    struct store_call *line = &recording->item->call;
    TAPML_TRY(decide_before(recorder, line));
    TAPML_TRY(perform(recording));
    TAPML_TRY(measure_all(recording));
    TAPML_TRY(decide_after(recorder, line));
    if (line->is_kept) {
        TAPML_TRY(fill_case(recording));
    } else {
        drop_contents(recording->item);
    }
    count_bytes(recording);
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
        forget_outputs(recorder, call);
        return backend_call(recorder->wrapper.inner, call);
    }
    struct recording recording = {
        .recorder = recorder, .call = call, .item = writer_item_create(WRITER_CALL)};
    if (!recording.item) {
        return status_no_memory();
    }
    tapml_status status = describe_call(&recording);
    if (status == TAPML_OK) {
        status = recorder->options.visit ? show(&recording) : record(&recording);
    }
    if (status != TAPML_OK) { // Nobody knows what the call has left.
        fetcher_forget(&recorder->fetcher, NULL);
    }
    writer_item_destroy(recording.item);
    return status;
}

static void record_buffer_free(struct backend *backend, tapml_object *buffer)
{
    struct recorder *recorder = (struct recorder *)backend;
    fetcher_forget(&recorder->fetcher, buffer);
    backend_buffer_free(recorder->wrapper.inner, buffer);
}

static tapml_status record_write(struct backend *backend,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    struct recorder *recorder = (struct recorder *)backend;
    fetcher_forget(&recorder->fetcher, buffer);
    return backend_write(recorder->wrapper.inner, buffer, offset, source, size);
}

static tapml_status record_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct recorder *recorder = (struct recorder *)backend;
    fetcher_forget(&recorder->fetcher, buffer);
    return backend_fill(recorder->wrapper.inner, buffer, offset, size, pattern);
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
    recorder->vt.buffer_free = record_buffer_free;
    recorder->vt.write = record_write;
    recorder->vt.fill = record_fill;
    recorder->vt.call = record_call;
    recorder->wrapper.backend.vt = &recorder->vt;
    recorder->wrapper.inner = options->inner;
    recorder->options = *options;
    table_init(&recorder->parts);
    fetcher_init(&recorder->fetcher, options->inner);
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
    fetcher_release(&recorder->fetcher);
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
    fetcher_forget(&recorder->fetcher, NULL); // Between steps the host writes to states.
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
