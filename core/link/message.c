// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/message.h"

#include "base/alloc.h"
#include "tensor/encoding.h"
#include "tensor/extent.h"

#include <string.h>

enum {
    TEXT_BYTES = 4,   // A text takes at least so many on the wire,
    PANEL_BYTES = 20, // a panel,
    PARAM_BYTES = 7 * TEXT_BYTES,
    SETTING_BYTES = 3 * TEXT_BYTES,
    HAS_STRIDE = 1 << 8, // Beside the rank.
    HAS_ENCODING = 1 << 9,
    HAS_SPANS = 1 << 10
};

static tapml_status garbled(void)
{
    return status_fail(TAPML_INVALID, "a message of the wire is cut or garbled");
}

static tapml_status reader_status(const struct wire_reader *reader)
{
    return reader->is_broken ? garbled() : TAPML_OK;
}

int message_has_descriptor(uint16_t verb)
{
    return verb == MESSAGE_REGION || verb == MESSAGE_SHARE;
}

void *message_grow(void *data, size_t used, size_t size)
{
    void *grown = size > 0 ? alloc_new(size) : NULL;
    if (grown && used > 0) {
        memcpy(grown, data, used);
    }
    if (grown || size == 0) {
        alloc_free(data);
    }
    return grown;
}

// -- Settings ----------------------------------------------------------------------------------

void message_put_settings(struct wire_writer *writer,
                          const struct message_setting *settings,
                          size_t count)
{
    wire_put_u32(writer, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        wire_put_text(writer, settings[i].section);
        wire_put_text(writer, settings[i].key);
        wire_put_text(writer, settings[i].value);
    }
}

// A text in the arena; NULL breaks the reader.
static const char *take_text(struct wire_reader *reader, struct arena *arena)
{
    const char *text = wire_take_text(reader);
    const char *copy = text ? arena_text(arena, text) : NULL;
    reader->is_broken = reader->is_broken || !copy;
    return copy ? copy : "";
}

static const char *take_optional(struct wire_reader *reader, struct arena *arena)
{
    const char *text = wire_take_text(reader);
    return text ? arena_text(arena, text) : NULL;
}

tapml_status message_take_settings(struct wire_reader *reader,
                                   struct arena *arena,
                                   struct message_setting **out_settings,
                                   size_t *out_count)
{
    const uint32_t count = wire_take_count(reader, SETTING_BYTES);
    struct message_setting *settings = arena_array(arena, (size_t)count + 1, sizeof(*settings));
    if (!settings) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        settings[i].section = take_text(reader, arena);
        settings[i].key = take_text(reader, arena);
        settings[i].value = take_text(reader, arena);
    }
    *out_settings = settings;
    *out_count = count;
    return reader_status(reader);
}

// -- What a backend is -------------------------------------------------------------------------

void message_put_info(struct wire_writer *writer, const struct backend_info *info)
{
    wire_put_text(writer, info->component);
    wire_put_text(writer, info->plugin);
    wire_put_text(writer, info->plugin_version);
    wire_put_text(writer, info->build_id ? info->build_id : "");
    wire_put_text(writer, info->device);
    wire_put_text(writer, info->device_name);
    wire_put_text(writer, info->driver);
    wire_put_u32(writer, info->is_host_memory ? 1 : 0);
    wire_put_u32(writer, info->takes);
    wire_put_u64(writer, info->buffer_bytes_max);
}

tapml_status
message_take_info(struct wire_reader *reader, struct arena *arena, struct backend_info *out_info)
{
    struct backend_info info = {0};
    info.component = take_text(reader, arena);
    info.plugin = take_text(reader, arena);
    info.plugin_version = take_text(reader, arena);
    info.build_id = take_text(reader, arena);
    info.device = take_text(reader, arena);
    info.device_name = take_text(reader, arena);
    info.driver = take_text(reader, arena);
    info.is_host_memory = wire_take_u32(reader) != 0;
    info.takes = wire_take_u32(reader);
    info.buffer_bytes_max = wire_take_u64(reader);
    *out_info = info;
    return reader_status(reader);
}

static void put_arithmetic(struct wire_writer *writer, const struct arithmetic *arithmetic)
{
    wire_put_u32(writer, arithmetic->inputs);
    wire_put_u32(writer, arithmetic->block);
    wire_put_u32(writer, arithmetic->weights);
    wire_put_u32(writer, arithmetic->accumulator);
    wire_put_u32(writer, arithmetic->result);
}

static tapml_status take_arithmetic(struct wire_reader *reader, struct arithmetic *out_arithmetic)
{
    out_arithmetic->inputs = wire_take_u32(reader);
    out_arithmetic->block = wire_take_u32(reader);
    out_arithmetic->weights = wire_take_u32(reader);
    out_arithmetic->accumulator = wire_take_u32(reader);
    out_arithmetic->result = wire_take_u32(reader);
    return arithmetic_check(out_arithmetic);
}

void message_put_op(struct wire_writer *writer,
                    const tapml_op *op,
                    const char *identity,
                    const struct arithmetic *arithmetic)
{
    wire_put_text(writer, identity);
    put_arithmetic(writer, arithmetic);
    wire_put_text(writer, op->name);
    wire_put_u32(writer, op->version);
    wire_put_text(writer, op->title);
    wire_put_text(writer, op->formula);
    wire_put_text(writer, op->source);
    wire_put_text(writer, op->doc);
    wire_put_text(writer, op->tolerance);
    wire_put_text(writer, op->flops);
    wire_put_text(writer, op->expands);
    wire_put_u32(writer, op->n_params);
    for (uint32_t i = 0; i < op->n_params; i++) {
        const tapml_param *param = op->params[i];
        wire_put_text(writer, param->name);
        wire_put_u32(writer, param->kind);
        wire_put_u32(writer, param->effects);
        wire_put_text(writer, param->dtype);
        wire_put_text(writer, param->shape);
        wire_put_text(writer, param->layout);
        wire_put_text(writer, param->region);
        wire_put_text(writer, param->domain);
    }
}

static tapml_param *take_param(struct wire_reader *reader, struct arena *arena)
{
    tapml_param *param = arena_new(arena, sizeof(*param));
    if (param) {
        param->hdr = (tapml_hdr)TAPML_HDR(tapml_param);
        param->name = take_text(reader, arena);
        param->kind = wire_take_u32(reader);
        param->effects = wire_take_u32(reader);
        param->dtype = take_optional(reader, arena);
        param->shape = take_optional(reader, arena);
        param->layout = take_optional(reader, arena);
        param->region = take_optional(reader, arena);
        param->domain = take_optional(reader, arena);
    }
    return param;
}

static tapml_status take_params(struct wire_reader *reader, struct arena *arena, tapml_op *op)
{
    const uint32_t count = wire_take_count(reader, PARAM_BYTES);
    const tapml_param **params = arena_array(arena, (size_t)count + 1, sizeof(*params));
    if (!params) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        params[i] = take_param(reader, arena);
        if (!params[i]) {
            return status_no_memory();
        }
    }
    op->n_params = count;
    op->params = params;
    return reader_status(reader);
}

tapml_status message_take_op(struct wire_reader *reader,
                             struct arena *arena,
                             const tapml_op **out_op,
                             const char **out_identity,
                             struct arithmetic *out_arithmetic)
{
    tapml_op *op = arena_new(arena, sizeof(*op));
    const char *identity = take_text(reader, arena);
    if (!op || !identity) {
        return status_no_memory();
    }
    TAPML_TRY(take_arithmetic(reader, out_arithmetic));
    op->hdr = (tapml_hdr)TAPML_HDR(tapml_op);
    op->name = take_text(reader, arena);
    op->version = wire_take_u32(reader);
    op->title = take_optional(reader, arena);
    op->formula = take_optional(reader, arena);
    op->source = take_optional(reader, arena);
    op->doc = take_optional(reader, arena);
    op->tolerance = take_optional(reader, arena);
    op->flops = take_optional(reader, arena);
    op->expands = take_optional(reader, arena);
    TAPML_TRY(take_params(reader, arena, op));
    *out_op = op;
    *out_identity = identity;
    return TAPML_OK;
}

// -- Arguments, written ------------------------------------------------------------------------

static uint32_t count_panels(const tapml_tensor *tensor)
{
    uint32_t count = 0;
    for (; tensor; tensor = tensor->next) {
        count++;
    }
    return count;
}

// A tensor whose encoding has spans with buffers of their own is followed by these.
static void
put_panel(struct wire_writer *writer, const tapml_tensor *tensor, message_number_fn number_of)
{
    wire_put_u32(writer, tensor->dtype);
    wire_put_u32(writer, tensor->rank | (tensor->stride ? HAS_STRIDE : 0u) |
                             (tensor->encoding ? HAS_ENCODING : 0u) |
                             (tensor->spans ? HAS_SPANS : 0u));
    wire_put_u32(writer, tensor->buffer && number_of ? number_of(tensor->buffer) : 0);
    wire_put_u64(writer, tensor->offset);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        wire_put_i64(writer, tensor->shape[i]);
    }
    for (uint32_t i = 0; tensor->stride && i < tensor->rank; i++) {
        wire_put_i64(writer, tensor->stride[i]);
    }
    if (tensor->encoding) {
        wire_put_text(writer, tensor->encoding->id);
    }
}

static tapml_status
put_tensor(struct wire_writer *writer, const tapml_tensor *tensor, message_number_fn number_of)
{
    wire_put_u32(writer, count_panels(tensor));
    for (; tensor; tensor = tensor->next) {
        if (tensor->encoding && encoding_find(tensor->encoding->id) != tensor->encoding) {
            return status_fail(TAPML_UNIMPLEMENTED,
                               "encoding '%s' does not go over the link to a worker",
                               tensor->encoding->id);
        }
        put_panel(writer, tensor, number_of);
        const uint32_t spans = tensor->encoding && tensor->spans ? tensor->encoding->n_spans : 0;
        for (uint32_t i = 0; i < spans; i++) {
            put_panel(writer, tensor->spans[i], number_of);
        }
    }
    return TAPML_OK;
}

static tapml_status
put_value(struct wire_writer *writer, const tapml_value *value, message_number_fn number_of)
{
    wire_put_u32(writer, value->kind);
    switch (value->kind) {
    case TAPML_V_NONE:
        return TAPML_OK;
    case TAPML_P_I64:
        wire_put_i64(writer, value->u.i);
        return TAPML_OK;
    case TAPML_P_F64:
        wire_put_f64(writer, value->u.d);
        return TAPML_OK;
    case TAPML_P_TENSORS_IN: {
        const tapml_tensor *const *tensors = value->u.p;
        wire_put_u32(writer, value->count);
        for (uint32_t i = 0; i < value->count; i++) {
            TAPML_TRY(put_tensor(writer, tensors[i], number_of));
        }
        return TAPML_OK;
    }
    default:
        return put_tensor(writer, value->u.p, number_of);
    }
}

tapml_status message_put_args(struct wire_writer *writer,
                              const tapml_op *op,
                              const tapml_value *args,
                              message_number_fn number_of)
{
    for (uint32_t i = 0; i < op->n_params; i++) {
        TAPML_TRY(put_value(writer, &args[i], number_of));
    }
    return TAPML_OK;
}

// -- Arguments, read ---------------------------------------------------------------------------

void message_args_release(struct message_args *args)
{
    alloc_free(args->panels);
    alloc_free(args->lists);
    *args = (struct message_args){0};
}

// Room for all tensors that the rest of the message can have, before pointers to them are kept.
static tapml_status reserve(struct message_args *args, const struct wire_reader *reader)
{
    const size_t wanted = (size_t)(reader->end - reader->at) / TEXT_BYTES + 1;
    args->panel_count = args->list_count = 0;
    if (wanted <= args->capacity) {
        return TAPML_OK;
    }
    message_args_release(args);
    args->panels = alloc_array(wanted, sizeof(*args->panels));
    args->lists = alloc_array(wanted, sizeof(*args->lists));
    if (!args->panels || !args->lists) {
        message_args_release(args);
        return status_no_memory();
    }
    args->capacity = wanted;
    return TAPML_OK;
}

static tapml_status
take_buffer(struct message_panel *panel, uint32_t number, const struct message_buffers *buffers)
{
    uint64_t end = 0;
    if (!extent_end(&panel->tensor, &end)) {
        return status_fail(TAPML_INVALID, "a tensor has an impossible shape");
    }
    if (!buffers) {
        return TAPML_OK;
    }
    panel->tensor.buffer = buffers->find(buffers->user, number);
    return panel->tensor.buffer ? TAPML_OK
                                : status_fail(TAPML_INVALID, "there is no buffer %u", number);
}

static tapml_status take_panel(struct wire_reader *reader,
                               const struct message_buffers *buffers,
                               struct message_panel *panel)
{
    *panel = (struct message_panel){.tensor = {.hdr = TAPML_HDR(tapml_tensor)}};
    panel->tensor.dtype = wire_take_u32(reader);
    const uint32_t rank = wire_take_u32(reader);
    const uint32_t number = wire_take_u32(reader);
    panel->tensor.offset = wire_take_u64(reader);
    panel->tensor.rank = rank & ~(uint32_t)(HAS_STRIDE | HAS_ENCODING | HAS_SPANS);
    if (panel->tensor.rank > TAPML_MAX_RANK) {
        return garbled();
    }
    for (uint32_t i = 0; i < panel->tensor.rank; i++) {
        panel->shape[i] = wire_take_i64(reader);
    }
    for (uint32_t i = 0; (rank & HAS_STRIDE) && i < panel->tensor.rank; i++) {
        panel->stride[i] = wire_take_i64(reader);
    }
    panel->tensor.shape = panel->tensor.rank > 0 ? panel->shape : NULL;
    panel->tensor.stride = rank & HAS_STRIDE ? panel->stride : NULL;
    if (rank & HAS_ENCODING) {
        const char *id = wire_take_text(reader);
        panel->tensor.encoding = id ? encoding_find(id) : NULL;
        if (!panel->tensor.encoding) {
            return garbled();
        }
    }
    TAPML_TRY(reader_status(reader));
    if (!(rank & HAS_SPANS)) {
        return take_buffer(panel, number, buffers);
    }
    panel->has_spans = 1;
    return panel->tensor.encoding ? TAPML_OK : garbled();
}

// The spans of a tensor, which are plain.
static tapml_status take_spans(struct wire_reader *reader,
                               const struct message_buffers *buffers,
                               struct message_args *args,
                               struct message_panel *panel)
{
    const uint32_t count = panel->tensor.encoding->n_spans;
    const tapml_tensor **list = &args->lists[args->list_count];
    for (uint32_t i = 0; i < count; i++) {
        if (args->panel_count == args->capacity || args->list_count == args->capacity) {
            return garbled();
        }
        struct message_panel *span = &args->panels[args->panel_count++];
        TAPML_TRY(take_panel(reader, buffers, span));
        if (span->has_spans || span->tensor.encoding) {
            return garbled();
        }
        args->lists[args->list_count++] = &span->tensor;
    }
    panel->tensor.spans = list;
    return TAPML_OK;
}

static tapml_status take_tensor(struct wire_reader *reader,
                                const struct message_buffers *buffers,
                                struct message_args *args,
                                const tapml_tensor **out_tensor)
{
    const uint32_t count = wire_take_count(reader, PANEL_BYTES);
    struct message_panel *first = &args->panels[args->panel_count];
    if (count == 0) {
        return garbled();
    }
    struct message_panel *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (args->panel_count == args->capacity) {
            return garbled();
        }
        struct message_panel *panel = &args->panels[args->panel_count++];
        TAPML_TRY(take_panel(reader, buffers, panel));
        if (last) {
            last->tensor.next = &panel->tensor;
        }
        last = panel;
        if (panel->has_spans && panel->tensor.encoding) {
            TAPML_TRY(take_spans(reader, buffers, args, panel));
        }
    }
    *out_tensor = &first->tensor;
    return TAPML_OK;
}

static tapml_status take_tensors(struct wire_reader *reader,
                                 const struct message_buffers *buffers,
                                 struct message_args *args,
                                 tapml_value *value)
{
    const tapml_tensor **list = &args->lists[args->list_count];
    value->count = wire_take_count(reader, TEXT_BYTES + PANEL_BYTES);
    if (value->count > args->capacity - args->list_count) {
        return garbled();
    }
    args->list_count += value->count; // Spans of the tensors follow.
    for (uint32_t i = 0; i < value->count; i++) {
        TAPML_TRY(take_tensor(reader, buffers, args, &list[i]));
    }
    value->u.p = list;
    return reader_status(reader);
}

static tapml_status take_value(struct wire_reader *reader,
                               const tapml_param *param,
                               const struct message_buffers *buffers,
                               struct message_args *args,
                               tapml_value *value)
{
    const tapml_tensor *tensor = NULL;
    *value = (tapml_value){.kind = wire_take_u32(reader)};
    if (value->kind == TAPML_V_NONE && !reader->is_broken) {
        return param->effects & TAPML_E_OPTIONAL
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "parameter '%s' is not optional", param->name);
    }
    if (value->kind != param->kind) {
        return status_fail(TAPML_INVALID, "parameter '%s' is of kind %u, expected %u", param->name,
                           value->kind, param->kind);
    }
    switch (value->kind) {
    case TAPML_P_I64:
        value->u.i = wire_take_i64(reader);
        return reader_status(reader);
    case TAPML_P_F64:
        value->u.d = wire_take_f64(reader);
        return reader_status(reader);
    case TAPML_P_TENSORS_IN:
        return take_tensors(reader, buffers, args, value);
    default:
        TAPML_TRY(take_tensor(reader, buffers, args, &tensor));
        value->u.p = tensor;
        return TAPML_OK;
    }
}

tapml_status message_take_args(struct wire_reader *reader,
                               const tapml_op *op,
                               const struct message_buffers *buffers,
                               struct message_args *args)
{
    TAPML_TRY(reserve(args, reader));
    if (op->n_params > CALL_PARAMS_MAX) {
        return garbled();
    }
    for (uint32_t i = 0; i < op->n_params; i++) {
        TAPML_TRY(take_value(reader, op->params[i], buffers, args, &args->values[i]));
    }
    return wire_is_done(reader) ? TAPML_OK : garbled();
}
