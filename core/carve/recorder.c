// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/recorder.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/table.h"
#include "carve/description.h"
#include "carve/fetcher.h"
#include "carve/seen.h"
#include "carve/statistics.h"
#include "carve/writer.h"
#include "model/checkpoint.h"
#include "store/call_line.h"
#include "store/case.h"
#include "store/store.h"
#include "store/store_open.h"
#include "tensor/dtype.h"

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
    struct table weights; // Names that were sent to the writer.

    // Of the last call, if it was not kept: its memory is most likely in the caches. NULL: none.
    struct writer_item *spare;

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

static int is_written_state(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_INOUT && case_is_state(argument);
}

// What is known of a call before it.
static tapml_status begin_line(struct recording *recording)
{
    struct recorder *recorder = recording->recorder;
    struct arena *arena = recording->item->arena;
    struct call_line *line = &recording->item->call;
    char shape_class[CLASS_TEXT];
    TAPML_TRY(case_shape_class(recording->call->inferred, recording->call->args, shape_class,
                               sizeof(shape_class)));
    *line = (struct call_line){
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
    TAPML_TRY(description_make(call, arena, &recording->arguments));
    recording->item->blobs = // What went in and what came out.
        arena_array(arena, 2 * (size_t)call->op->n_params, sizeof(*recording->item->blobs));
    return recording->item->blobs ? begin_line(recording) : status_no_memory();
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
measure(struct recording *recording, uint32_t index, struct call_statistics *statistics)
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
static tapml_status decide_before(struct recorder *recorder, struct call_line *line)
{
    int has_class = 0;
    TAPML_TRY(seen_has_class(&recorder->seen, line, &has_class));
    line->is_kept = recorder->options.keep_all || !has_class;
    return TAPML_OK;
}

// Whether what came out of a call makes it worth keeping, where that was not known before.
static tapml_status decide_after(struct recorder *recorder, struct call_line *line)
{
    if (!line->is_kept) {
        TAPML_TRY(seen_is_wider(&recorder->seen, line, &line->is_kept));
    }
    return line->is_kept ? seen_add(&recorder->seen, line) : TAPML_OK;
}

static tapml_status measure_all(struct recording *recording)
{
    struct call_line *line = &recording->item->call;
    for (uint32_t i = 0; i < recording->call->op->n_params; i++) {
        if (case_is_output(&recording->arguments[i])) {
            TAPML_TRY(measure(recording, i, &line->outputs[line->output_count++]));
        }
    }
    return TAPML_OK;
}

// Whether the memory behind a weight is what the checkpoint has under that name, and which tensor.
static int is_named(const struct recorder *recorder,
                    const struct backend_origin *origin,
                    const struct checkpoint_tensor **out_tensor)
{
    *out_tensor = NULL;
    if (!recorder->options.checkpoint) {
        return origin->name != NULL;
    }
    const struct checkpoint_tensor *tensor =
        origin->name ? checkpoint_find(recorder->options.checkpoint, origin->name) : NULL;
    *out_tensor = tensor;
    return tensor && tensor->data == origin->data && tensor->bytes == origin->base_bytes;
}

// A weight that is known by name is sent to the writer once; any other weight is part of the case.
static tapml_status take_weight(struct recording *recording, uint32_t index)
{
    struct recorder *recorder = recording->recorder;
    struct writer_item *item = recording->item;
    struct case_argument *argument = &recording->arguments[index];
    const struct backend_origin *origin = &recording->call->origins[index];
    const struct checkpoint_tensor *tensor = NULL;
    size_t value = 0;
    if (!is_named(recorder, origin, &tensor)) {
        argument->before = origin->data;
        return TAPML_OK;
    }
    if (table_find(&recorder->weights, origin->name, &value)) {
        return TAPML_OK;
    }
    item->weights[item->weight_count++] = (struct writer_weight){
        argument->origin, argument->dtype, origin->data, argument->base_bytes, tensor};
    struct writer_weight *weight = &item->weights[item->weight_count - 1];
    if (tensor) { // In the form that the checkpoint has, whatever the device got.
        weight->dtype = tensor->tensor.dtype;
        weight->bytes = tensor->bytes;
    }
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
        const int is_there = description_is_tensor(&recording->arguments[i]);
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
    const struct writer_item *item = recording->item;
    counts->calls++;
    counts->kept += item->call.is_kept != 0;
    for (uint32_t i = 0; i < recording->call->op->n_params; i++) {
        const struct case_argument *argument = &recording->arguments[i];
        const uint64_t contents = (uint64_t)(argument->before != NULL) + (argument->after != NULL);
        if (description_is_tensor(argument) && !is_weight(argument)) {
            const uint64_t seen = 1 + (argument->kind == TAPML_P_TENSOR_INOUT);
            counts->bytes_seen += seen * argument->content_bytes;
            counts->bytes_kept += item->call.is_kept ? contents * argument->content_bytes : 0;
        }
    }
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
    struct call_line *line = &recording->item->call;
    TAPML_TRY(fetch_before(recording));
    forget_outputs(recorder, recording->call);
    const uint64_t start_ns = clock_now_ns();
    TAPML_TRY(backend_call(recorder->wrapper.inner, recording->call));
    TAPML_TRY(backend_wait(recorder->wrapper.inner));
    line->time_ns = clock_now_ns() - start_ns;
    return count_part(recorder, line->instance, &line->part);
}

// Passes a call to `visit`. The item has the weights that would be sent to the writer.
static tapml_status show(struct recording *recording)
{
    const struct recorder_options *options = &recording->recorder->options;
    TAPML_TRY(perform(recording));
    TAPML_TRY(fill_case(recording));
    count_bytes(recording);
    return options->visit(options->user, &recording->item->item, recording->call->op);
}

// Sends what is known of a call to the writer: the whole item, or its line alone.
static tapml_status send(struct recording *recording)
{
    struct writer *writer = recording->recorder->writer;
    struct writer_item *item = recording->item;
    if (item->call.is_kept) {
        item->bytes += arena_size(item->arena);
        recording->item = NULL;
    } else {
        item = writer_item_create_line(&item->call);
    }
    if (!item) {
        return status_no_memory();
    }
    writer_push(writer, item);
    return TAPML_OK;
}

static tapml_status record(struct recording *recording)
{
    struct recorder *recorder = recording->recorder;
    struct call_line *line = &recording->item->call;
    TAPML_TRY(decide_before(recorder, line));
    TAPML_TRY(perform(recording));
    TAPML_TRY(measure_all(recording));
    TAPML_TRY(decide_after(recorder, line));
    if (line->is_kept) {
        TAPML_TRY(fill_case(recording));
    }
    count_bytes(recording);
    return send(recording);
}

static struct writer_item *take_item(struct recorder *recorder)
{
    struct writer_item *item = recorder->spare;
    recorder->spare = NULL;
    return item ? item : writer_item_create(WRITER_CALL);
}

// Keeps an item that was not sent for the next call. NULL: it was sent.
static void give_item_back(struct recorder *recorder, struct writer_item *item)
{
    if (item) {
        writer_item_reset(item);
        recorder->spare = item;
    }
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
    struct recording recording = {.recorder = recorder, .call = call, .item = take_item(recorder)};
    if (!recording.item) {
        return status_no_memory();
    }
    tapml_status status = describe_call(&recording);
    if (status == TAPML_OK) {
        status = recorder->options.visit ? show(&recording) : record(&recording);
    }
    if (status != TAPML_OK) { // What the call has left is not known.
        fetcher_forget(&recorder->fetcher, NULL);
    }
    give_item_back(recorder, recording.item);
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

static tapml_status record_copy(struct backend *backend, const struct backend_copy *copy)
{
    struct recorder *recorder = (struct recorder *)backend;
    fetcher_forget(&recorder->fetcher, copy->target);
    return backend_copy(recorder->wrapper.inner, copy);
}

static void release(struct backend *backend)
{
    recorder_destroy((struct recorder *)backend);
}

static tapml_status begin_store(struct recorder *recorder)
{
    struct store *store = NULL;

    TAPML_TRY(store_open(recorder->options.store_path, 1, &store));
    const tapml_status status = seen_recall(&recorder->seen, store, recorder->options.prompts_end);

    store_close(store);
    return status == TAPML_OK ? writer_create(recorder->options.store_path, &recorder->writer)
                              : status;
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
    recorder->vt.copy = record_copy;
    recorder->vt.call = record_call;
    recorder->wrapper.backend.vt = &recorder->vt;
    recorder->wrapper.inner = options->inner;
    recorder->options = *options;
    table_init(&recorder->parts);
    fetcher_init(&recorder->fetcher, options->inner);
    seen_init(&recorder->seen);
    recorder->seen.growth = options->is_share ? 1 : SEEN_GROWTH;
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
    writer_item_destroy(recorder->spare);
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

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct recorder_made *made = user;
    (void)settings;
    made->options.inner = inner;
    TAPML_TRY(recorder_create(&made->options, &made->recorder));
    *out_backend = recorder_backend(made->recorder);
    return TAPML_OK;
}

struct place_link recorder_link(struct recorder_made *made)
{
    return (struct place_link){.kind = PLACE_RECORDER, .create = make_link, .user = made};
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

static tapml_status copy_prompt(const struct carved_prompt *prompt, struct writer_item *item)
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

tapml_status recorder_end_prompt(struct recorder *recorder, const struct carved_prompt *prompt)
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
