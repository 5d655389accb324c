// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/tracer.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "link/message.h"
#include "remote/bulk.h"
#include "tensor/extent.h"

// An op of the other side, and the bytes of its calls.
struct traced_op {
    const tapml_op *op;
    struct timeline_bytes sums;
    int has_changed; // Since its curve was drawn last.
};

struct tracer {
    struct timeline_track *sent, *received, *answers;
    struct arena *arena; // Of the ops.
    struct traced_op *ops;
    size_t op_count, op_capacity;
    struct message_args args;
    struct traced_op *last; // That was called; NULL: none was.
    uint64_t written;       // Bytes for what the next call reads.

    // The question that is not answered yet.
    uint64_t asked; // Its number; 0: there is none.
    uint16_t asked_verb;
    uint64_t asked_ns;
};

static const char *name_of(uint16_t verb)
{
    static const char *const names[] = {
        [MESSAGE_OPEN] = "open",
        [MESSAGE_REGION] = "region",
        [MESSAGE_SUPPORTS] = "supports",
        [MESSAGE_BUFFER_NEW] = "buffer new",
        [MESSAGE_BUFFER_WRAP] = "buffer wrap",
        [MESSAGE_BUFFER_FREE] = "buffer free",
        [MESSAGE_WRITE] = "write",
        [MESSAGE_READ] = "read",
        [MESSAGE_FILL] = "fill",
        [MESSAGE_CALL] = "call",
        [MESSAGE_FLUSH] = "flush",
        [MESSAGE_WAIT] = "wait",
        [MESSAGE_COUNT] = "count",
        [MESSAGE_CLOSE] = "close",
        [MESSAGE_SHARE] = "share",
        [MESSAGE_UNSHARE] = "release",
        [MESSAGE_SIGNAL] = "signal",
        [MESSAGE_WAIT_FOR] = "wait for",
        [MESSAGE_COPY] = "copy",
        [MESSAGE_DEFINE] = "define",
        [MESSAGE_STAMP] = "stamp",
        [MESSAGE_KNOBS] = "knobs",
        [MESSAGE_REPLY] = "reply",
        [BULK_STARTED] = "started",
        [BULK_END] = "end",
        [BULK_DATA] = "data",
        [BULK_SAME] = "same",
        [BULK_HAVE] = "have",
        [BULK_LOST] = "lost",
    };

    return verb < sizeof(names) / sizeof(*names) && names[verb] != NULL ? names[verb] : "message";
}

static int is_question(uint16_t verb)
{
    return verb == MESSAGE_OPEN || verb == MESSAGE_SUPPORTS || verb == MESSAGE_BUFFER_NEW ||
           verb == MESSAGE_WAIT || verb == MESSAGE_WAIT_FOR || verb == MESSAGE_COUNT ||
           verb == MESSAGE_DEFINE || verb == MESSAGE_KNOBS;
}

// -- Ops ---------------------------------------------------------------------------------------

// The place in the list is the number on the wire, so nothing is left out: `op` may be NULL.
static void add_op(struct tracer *tracer, const tapml_op *op)
{
    void *ops = tracer->ops;
    const size_t last = tracer->last != NULL ? (size_t)(tracer->last - tracer->ops) : 0;

    if (alloc_grow(&ops, &tracer->op_capacity, tracer->op_count, sizeof(*tracer->ops))) {
        tracer->ops = ops;
        tracer->last = tracer->last != NULL ? &tracer->ops[last] : NULL;
        tracer->ops[tracer->op_count++] = (struct traced_op){.op = op};
    }
}

static tapml_status take_op(struct tracer *tracer, struct wire_reader *reader)
{
    const tapml_op *op = NULL;
    const char *identity = NULL;
    struct arithmetic arithmetic;

    TAPML_TRY(message_take_op(reader, tracer->arena, &op, &identity, &arithmetic));
    add_op(tracer, op);
    return TAPML_OK;
}

// What the answer to `open` lists. One that has started again has the same ones.
static tapml_status take_ops(struct tracer *tracer, struct wire_reader *reader)
{
    struct backend_info info;

    TAPML_TRY(message_take_info(reader, tracer->arena, &info));
    const uint32_t count = wire_take_count(reader, 1);

    for (uint32_t i = (uint32_t)tracer->op_count; i < count; i++) {
        TAPML_TRY(take_op(tracer, reader));
    }
    return TAPML_OK;
}

// An answer that is malformed is the link's to refuse.
static void take_answer(struct tracer *tracer, const struct wire_frame *frame)
{
    struct wire_reader reader;
    tapml_status status = TAPML_OK;

    wire_reader_init(&reader, frame);
    if (wire_take_i64(&reader) != TAPML_OK) {
        return;
    }
    (void)wire_take_text(&reader);
    if (tracer->asked_verb == MESSAGE_OPEN && tracer->op_count == 0) {
        status = take_ops(tracer, &reader);
    } else if (tracer->asked_verb == MESSAGE_DEFINE && wire_take_u32(&reader) != 0) {
        status = take_op(tracer, &reader);
    }
    (void)status;
}

static uint64_t extent_bytes(const tapml_tensor *tensor)
{
    uint64_t end = 0;

    return extent_end(tensor, &end) && end > tensor->offset ? end - tensor->offset : 0;
}

// A tensor, with its panels and spans.
static uint64_t tensor_bytes(const tapml_tensor *tensor)
{
    uint64_t bytes = 0;

    for (; tensor != NULL; tensor = tensor->next) {
        bytes += tensor->spans == NULL ? extent_bytes(tensor) : 0;
        for (uint32_t i = 0; tensor->spans != NULL && i < tensor->encoding->n_spans; i++) {
            bytes += extent_bytes(tensor->spans[i]);
        }
    }
    return bytes;
}

static uint64_t argument_bytes(const tapml_value *value)
{
    const tapml_tensor *const *list = value->u.p;
    uint64_t bytes = 0;

    if (value->kind == TAPML_P_TENSORS_IN) {
        for (uint32_t i = 0; i < value->count; i++) {
            bytes += tensor_bytes(list[i]);
        }
        return bytes;
    }
    return value->kind >= TAPML_P_TENSOR_IN && value->kind < TAPML_P_TENSORS_IN
               ? tensor_bytes(value->u.p)
               : 0;
}

// What it takes to send the arguments of a call there and back.
static struct timeline_bytes
measure_args(struct tracer *tracer, struct wire_reader *reader, const tapml_op *op)
{
    struct timeline_bytes measured = {0, 0, 0};

    if (message_take_args(reader, op, NULL, &tracer->args) != TAPML_OK) {
        return measured;
    }
    for (uint32_t i = 0; i < op->n_params; i++) {
        const uint64_t bytes = 2 * argument_bytes(&tracer->args.values[i]);

        measured.whole += bytes;
        measured.values += (op->params[i]->effects & TAPML_E_WEIGHT) != 0 ? 0 : bytes;
    }
    return measured;
}

// -- What is drawn -----------------------------------------------------------------------------

static void
draw_call(struct tracer *tracer, const struct wire_frame *frame, uint64_t begin_ns, uint64_t bytes)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    const uint32_t index = wire_take_u32(&reader);
    const char *instance = wire_take_text(&reader);
    struct traced_op *op = index < tracer->op_count ? &tracer->ops[index] : NULL;
    const struct timeline_bytes measured =
        op != NULL ? measure_args(tracer, &reader, op->op) : (struct timeline_bytes){0, 0, 0};

    bytes += tracer->written;
    tracer->written = 0;
    tracer->last = op;
    if (op != NULL) {
        op->has_changed = 1;
        op->sums.bytes += bytes;
        op->sums.whole += measured.whole;
        op->sums.values += measured.values;
    }
    timeline_end(tracer->sent, begin_ns,
                 &(struct timeline_span){.kind = "call",
                                         .name = op != NULL ? op->op->name : "call",
                                         .detail = instance,
                                         .bytes = bytes,
                                         .whole = measured.whole});
}

void tracer_sent(struct tracer *tracer,
                 const struct wire_frame *frame,
                 uint64_t begin_ns,
                 uint64_t bytes)
{
    if (tracer == NULL) {
        return;
    }
    if (is_question(frame->verb)) {
        tracer->asked = frame->number;
        tracer->asked_verb = frame->verb;
        tracer->asked_ns = timeline_begin(tracer->answers);
    }
    if (frame->verb == MESSAGE_CALL) {
        draw_call(tracer, frame, begin_ns, bytes);
        return;
    }
    tracer->written += frame->verb == MESSAGE_WRITE ? bytes : 0;
    timeline_end(
        tracer->sent, begin_ns,
        &(struct timeline_span){.kind = "message", .name = name_of(frame->verb), .bytes = bytes});
}

// The sums of those ops that were called since the last answer.
static void draw_sums(const struct tracer *tracer)
{
    for (size_t i = 0; i < tracer->op_count; i++) {
        struct traced_op *op = &tracer->ops[i];

        if (op->has_changed) {
            op->has_changed = 0;
            timeline_count_bytes(tracer->answers, op->op->name, &op->sums);
        }
    }
}

void tracer_received(struct tracer *tracer, const struct wire_frame *frame, uint64_t bytes)
{
    if (tracer == NULL) {
        return;
    }
    const uint64_t now_ns = timeline_begin(tracer->received);

    if ((frame->verb == BULK_DATA || frame->verb == BULK_SAME) && tracer->last != NULL) {
        tracer->last->sums.bytes += bytes;
    }
    timeline_put(
        tracer->received, now_ns, now_ns,
        &(struct timeline_span){.kind = "message", .name = name_of(frame->verb), .bytes = bytes});
    if (frame->verb == MESSAGE_REPLY && frame->number == tracer->asked && tracer->asked != 0) {
        take_answer(tracer, frame);
        timeline_put(
            tracer->answers, tracer->asked_ns, now_ns,
            &(struct timeline_span){.kind = "answer", .name = name_of(tracer->asked_verb)});
        tracer->asked = 0;
        draw_sums(tracer);
    }
}

uint64_t tracer_begin(const struct tracer *tracer)
{
    return tracer != NULL ? timeline_begin(tracer->sent) : 0;
}

// -- Life --------------------------------------------------------------------------------------

tapml_status tracer_create(struct timeline *timeline, const char *name, struct tracer **out_tracer)
{
    static const char *const tracks[] = {"sent", "received", "answers"};
    struct tracer *tracer = alloc_new(sizeof(*tracer));

    if (tracer == NULL) {
        return status_no_memory();
    }
    struct timeline_track **const made[] = {&tracer->sent, &tracer->received, &tracer->answers};

    tracer->arena = arena_create();
    tapml_status status = tracer->arena != NULL ? TAPML_OK : status_no_memory();

    for (size_t i = 0; i < sizeof(tracks) / sizeof(*tracks) && status == TAPML_OK; i++) {
        status = timeline_track(timeline, name, tracks[i], made[i]);
    }
    if (status != TAPML_OK) {
        tracer_destroy(tracer);
        return status;
    }
    *out_tracer = tracer;
    return TAPML_OK;
}

void tracer_destroy(struct tracer *tracer)
{
    if (tracer != NULL) {
        message_args_release(&tracer->args);
        arena_destroy(tracer->arena);
        alloc_free(tracer->ops);
        alloc_free(tracer);
    }
}
