// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/events.h"
#include "harness/scratch.h"
#include "link/message.h"
#include "remote/bulk.h"
#include "remote/tracer.h"

#include <tapml/ops.h>

enum { ROWS = 4, COLUMNS = 8, TENSOR_BYTES = ROWS * COLUMNS * 4 };

static struct scratch scratch;
static struct timeline *timeline;
static struct tracer *tracer;
static struct wire_writer writer;

static void setup(void)
{
    scratch_make(&scratch);
    writer = MESSAGE_WRITER;
    cr_assert_eq(timeline_create(scratch_path(&scratch, "t.json"), &timeline), TAPML_OK);
    cr_assert_eq(tracer_create(timeline, "tapml://board:7700", &tracer), TAPML_OK);
}

static void teardown(void)
{
    wire_writer_release(&writer);
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}

TestSuite(tracer, .init = setup, .fini = teardown);

static json_t *finish(void)
{
    tracer_destroy(tracer);
    cr_assert_eq(timeline_finish(timeline), TAPML_OK);
    return events_read(scratch_path(&scratch, "t.json"));
}

// The message that was written last.
static struct wire_frame take(void)
{
    struct wire_frame frame = {0};
    wire_end(&writer);
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    writer.size = 0;
    return frame;
}

static void send(uint64_t bytes)
{
    const struct wire_frame frame = take();
    tracer_sent(tracer, &frame, tracer_begin(tracer), bytes);
}

static void receive(uint64_t bytes)
{
    const struct wire_frame frame = take();
    tracer_received(tracer, &frame, bytes);
}

static void begin_reply(uint32_t number)
{
    wire_begin(&writer, MESSAGE_REPLY, number);
    wire_put_i64(&writer, TAPML_OK);
    wire_put_text(&writer, "");
}

// A device with one op.
static void open_device(void)
{
    const struct backend_info info = {.component = "reference",
                                      .plugin = "p",
                                      .plugin_version = "1",
                                      .build_id = "",
                                      .device = "f32",
                                      .device_name = "",
                                      .driver = ""};
    wire_begin(&writer, MESSAGE_OPEN, 1);
    send(50);
    begin_reply(1);
    message_put_info(&writer, &info);
    wire_put_u32(&writer, 1);
    message_put_op(&writer, &tapml_silu, "", &arithmetic_f32);
    receive(500);
}

static void call_silu(uint32_t index, const char *instance)
{
    const int64_t shape[] = {ROWS, COLUMNS};
    tapml_tensor tensor = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensor},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensor}};
    wire_begin(&writer, MESSAGE_CALL, 3);
    wire_put_u32(&writer, index);
    wire_put_text(&writer, instance);
    cr_assert_eq(message_put_args(&writer, &tapml_silu, args, NULL), TAPML_OK);
    send(100);
}

Test(tracer, a_call_has_its_bytes_beside_those_of_its_arguments)
{
    open_device();
    wire_begin(&writer, MESSAGE_WRITE, 2);
    send(77);
    call_silu(0, "layers.0/act");
    wire_begin(&writer, MESSAGE_WAIT, 4);
    send(16);
    wire_begin(&writer, BULK_DATA, 0);
    receive(60);
    begin_reply(4);
    receive(30);
    json_t *events = finish();
    const json_t *total = events_find(events, "tapml.silu"), *call = NULL;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        call = strcmp(events_text(event, "cat"), "call") == 0 ? event : call;
    }
    cr_expect_str_eq(events_text(call, "name"), "tapml.silu");
    cr_expect_str_eq(events_text(json_object_get(call, "args"), "detail"), "layers.0/act");
    cr_expect_eq(events_argument(call, "bytes"), 177, "with what was written for it");
    cr_expect_eq(events_argument(call, "both_ways"), 4 * TENSOR_BYTES);
    cr_expect_str_eq(events_text(total, "ph"), "C");
    cr_expect_eq(events_argument(total, "bytes"), 237, "with what was read of it");
    cr_expect_eq(events_argument(total, "both_ways"), 4 * TENSOR_BYTES);
    cr_expect_eq(events_argument(total, "values_both_ways"), 4 * TENSOR_BYTES);
    cr_expect_eq(events_argument(events_find(events, "write"), "bytes"), 77);
    cr_expect_eq(events_argument(events_find(events, "data"), "bytes"), 60);
    cr_expect_str_eq(events_text(events_find(events, "wait"), "cat"), "answer");
    cr_expect_eq(events_count(events, "X", "open"), 2, "the question, and its answer");
    json_decref(events);
}

// What is malformed is drawn, and refused by those who need it.
Test(tracer, a_message_that_it_does_not_understand_is_one_all_the_same)
{
    call_silu(9, "here");
    wire_begin(&writer, MESSAGE_OPEN, 1);
    send(16);
    begin_reply(1);
    wire_put_u32(&writer, 7);
    receive(40);
    wire_begin(&writer, MESSAGE_CALL, 2);
    send(16);
    wire_begin(&writer, 77, 0);
    receive(16);
    json_t *events = finish();
    cr_expect_eq(events_count(events, "X", "call"), 2);
    cr_expect_eq(events_count(events, "X", "message"), 1);
    cr_expect_eq(events_count(events, "X", "reply"), 1);
    json_decref(events);
}

Test(tracer, without_one_nothing_is_done)
{
    tracer_destroy(tracer);
    tracer = NULL;
    wire_begin(&writer, MESSAGE_WAIT, 1);
    send(16);
    begin_reply(1);
    receive(16);
    cr_expect_eq(tracer_begin(tracer), 0);
    tracer_destroy(tracer);
}
