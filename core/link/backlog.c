// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/backlog.h"

#include "schema/catalogue.h"
#include "schema/infer.h"

#include <stdio.h>

static const uint64_t FLOPS_PER_S = 100000000;

// The frame behind `frame`, or the first one where `at` is 0. Returns 0 at the end.
static int next(const struct backlog *backlog, size_t *at, struct wire_frame *frame)
{
    if (*at >= backlog->size ||
        wire_read(backlog->frames + *at, backlog->size - *at, frame) != WIRE_FRAME) {
        return 0;
    }
    *at += wire_frame_bytes(frame);
    return 1;
}

static const struct compiled_op *take_op(const struct backlog *backlog, struct wire_reader *reader)
{
    const uint32_t index = wire_take_u32(reader);
    return !reader->is_broken && index < backlog->op_count ? backlog->ops[index] : NULL;
}

static void look_at(const struct backlog *backlog,
                    const struct wire_frame *frame,
                    uint64_t at,
                    struct backlog_culprit *culprit)
{
    struct wire_reader reader;
    wire_reader_init(&reader, frame);
    const int is_call = frame->verb == MESSAGE_CALL;
    if (frame->verb == MESSAGE_STAMP && frame->number != at) { // All before it was done.
        *culprit = (struct backlog_culprit){.instance = ""};
    }
    if (is_call || (frame->verb == MESSAGE_SUPPORTS && frame->number == at)) {
        const struct compiled_op *schema = take_op(backlog, &reader);
        culprit->op = schema ? schema->op : NULL;
        const char *instance = is_call ? wire_take_text(&reader) : NULL;
        culprit->instance = instance ? instance : "";
        culprit->doing = is_call ? "while or after it ran" : "when it was asked for";
        culprit->queued += is_call;
    }
    if (frame->number == at) {
        culprit->doing = is_call ? "while it ran" : culprit->doing;
        culprit->is_sure = is_call || culprit->queued == 1;
    }
}

struct backlog_culprit backlog_find_culprit(const struct backlog *backlog, uint64_t at)
{
    struct backlog_culprit culprit = {.instance = ""};
    struct wire_frame frame = {0};
    size_t begin = 0;
    while ((begin == 0 || frame.number != at) && next(backlog, &begin, &frame)) {
        look_at(backlog, &frame, at, &culprit);
    }
    return culprit;
}

void backlog_print(const struct backlog_culprit *culprit, char *out_text, size_t text_size)
{
    out_text[0] = '\0';
    if (culprit->op) {
        (void)snprintf(out_text, text_size, " %s %s%s%.180s%s", culprit->doing,
                       catalogue_short_name(culprit->op), culprit->instance[0] ? " at '" : "",
                       culprit->instance, culprit->instance[0] ? "'" : "");
    }
}

int backlog_calls(const struct backlog *backlog, const tapml_op *op)
{
    struct wire_frame frame = {0};
    size_t begin = 0;
    while (next(backlog, &begin, &frame)) {
        struct wire_reader reader;
        wire_reader_init(&reader, &frame);
        const struct compiled_op *schema =
            frame.verb == MESSAGE_CALL ? take_op(backlog, &reader) : NULL;
        if (schema && schema->op == op) {
            return 1;
        }
    }
    return 0;
}

// Operations of a call by the formula of its schema; 0 where that says nothing.
static int64_t
cost(const struct backlog *backlog, const struct wire_frame *frame, struct message_args *args)
{
    struct wire_reader reader;
    struct inferred inferred;
    int64_t flops = 0;
    wire_reader_init(&reader, frame);
    const struct compiled_op *schema =
        frame->verb == MESSAGE_CALL ? take_op(backlog, &reader) : NULL;
    if (!schema || !schema->flops) {
        return 0;
    }
    (void)wire_take_text(&reader);
    const int is_known = message_take_args(&reader, schema->op, NULL, args) == TAPML_OK &&
                         infer_call(schema, args->values, &inferred) == TAPML_OK &&
                         expression_value(&inferred.scope, schema->flops, &flops) == TAPML_OK;
    return is_known && flops > 0 ? flops : 0;
}

uint64_t backlog_allowance_ns(const struct backlog *backlog)
{
    struct message_args args = {0};
    struct wire_frame frame = {0};
    double flops = 0;
    size_t begin = 0;
    while (next(backlog, &begin, &frame)) {
        flops += (double)cost(backlog, &frame, &args);
    }
    message_args_release(&args);
    return (uint64_t)(flops / (double)FLOPS_PER_S * 1e9);
}
