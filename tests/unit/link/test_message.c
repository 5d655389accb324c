// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/schemas.h"
#include "link/message.h"
#include "tensor/encoding.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct wire_writer writer;
static struct wire_frame frame;
static struct wire_reader reader;
static struct arena *arena;
static struct message_args args;

static void setup(void)
{
    writer = MESSAGE_WRITER;
    arena = arena_create();
    cr_assert_not_null(arena);
    wire_begin(&writer, MESSAGE_CALL, 1);
}

static void teardown(void)
{
    wire_writer_release(&writer);
    message_args_release(&args);
    arena_destroy(arena);
}

TestSuite(message, .init = setup, .fini = teardown);

static void turn_round(void)
{
    wire_end(&writer);
    cr_assert_not(writer.is_failed);
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    wire_reader_init(&reader, &frame);
}

static uint32_t number_of(const tapml_object *buffer)
{
    return buffer == (const tapml_object *)(const void *)&writer ? 7 : 0;
}

// There is a buffer 7, and no other.
static tapml_object *find_buffer(void *user, uint32_t number)
{
    return number == 7 ? (tapml_object *)(void *)&writer : NULL;
}

static const struct message_buffers buffers = {.find = find_buffer};

static tapml_tensor tensor_of(const int64_t *shape, const int64_t *stride, uint64_t offset)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = TAPML_F32,
                          .rank = 2,
                          .shape = shape,
                          .stride = stride,
                          .offset = offset,
                          .buffer = (tapml_object *)(void *)&writer};
}

// silu of x into y, both of this shape.
static tapml_status put_silu(const tapml_tensor *x, const tapml_tensor *y)
{
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = x},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = y}};
    return message_put_args(&writer, &tapml_silu, values, number_of);
}

static tapml_status take_silu(void)
{
    turn_round();
    return message_take_args(&reader, &tapml_silu, &buffers, &args);
}

Test(message, carries_tensors_with_strides)
{
    const int64_t shape[] = {3, 5}, stride[] = {40, 1};
    const tapml_tensor x = tensor_of(shape, stride, 64), y = tensor_of(shape, NULL, 2048);
    cr_assert_eq(put_silu(&x, &y), TAPML_OK);
    cr_assert_eq(take_silu(), TAPML_OK, "%s", status_message());
    const tapml_tensor *read = args.values[0].u.p, *written = args.values[1].u.p;
    cr_assert_eq(read->rank, 2);
    cr_assert_arr_eq(read->shape, shape, sizeof(shape));
    cr_assert_arr_eq(read->stride, stride, sizeof(stride));
    cr_assert_eq(read->offset, 64);
    cr_assert_eq((void *)read->buffer, (void *)&writer);
    cr_assert_null(written->stride);
}

// linear with an encoded weight, [4, 64] from `offset` on.
static void put_linear(const char *id, uint64_t offset)
{
    static const int64_t shape[] = {4, 64}, square[] = {4, 4};
    const tapml_tensor x = tensor_of(shape, NULL, 0), y = tensor_of(square, NULL, 0);
    tapml_tensor w = tensor_of(shape, NULL, offset);
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                  {.kind = TAPML_P_TENSOR_IN, .u.p = &w},
                                  {.kind = TAPML_V_NONE},
                                  {.kind = TAPML_P_I64},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    w.dtype = TAPML_U8;
    w.encoding = encoding_find(id);
    writer.size = 0;
    wire_begin(&writer, MESSAGE_CALL, 1);
    cr_assert_eq(message_put_args(&writer, &tapml_linear, values, number_of), TAPML_OK);
    turn_round();
}

// silu of a matrix [4, 64] in tiles, whose spans have a buffer each.
static void put_tiles(void)
{
    static const int64_t shape[] = {4, 64}, bytes[] = {256, 4 * sizeof(float)};
    const tapml_tensor quants = {.hdr = TAPML_HDR(tapml_tensor),
                                 .dtype = TAPML_U8,
                                 .rank = 1,
                                 .shape = &bytes[0],
                                 .buffer = (tapml_object *)(void *)&writer};
    tapml_tensor scales = quants, x = tensor_of(shape, NULL, 0);
    const tapml_tensor *const spans[] = {&quants, &scales};
    scales.shape = &bytes[1];
    scales.offset = 48;
    x.dtype = TAPML_U8;
    x.buffer = NULL;
    x.encoding = encoding_find("tiles.e4m3.f32.row/1");
    x.spans = spans;
    const tapml_tensor y = tensor_of(shape, NULL, 2048);
    writer.size = 0;
    wire_begin(&writer, MESSAGE_CALL, 1);
    cr_assert_eq(put_silu(&x, &y), TAPML_OK);
    turn_round();
}

Test(message, carries_the_buffers_of_spans)
{
    put_tiles();
    cr_assert_eq(message_take_args(&reader, &tapml_silu, &buffers, &args), TAPML_OK, "%s",
                 status_message());
    const tapml_tensor *read = args.values[0].u.p, *written = args.values[1].u.p;
    cr_assert_str_eq(read->encoding->id, "tiles.e4m3.f32.row/1");
    cr_assert_null(read->buffer);
    cr_assert_not_null(read->spans);
    cr_assert_eq(read->spans[0]->shape[0], 256);
    cr_assert_eq(read->spans[1]->shape[0], 16);
    cr_assert_eq(read->spans[1]->offset, 48);
    cr_assert_eq((void *)read->spans[1]->buffer, (void *)&writer);
    cr_assert_null(read->next);
    cr_assert_eq(written->offset, 2048);
    cr_assert_null(written->spans);
}

Test(message, refuses_every_cut_of_a_call_with_spans)
{
    put_tiles();
    const uint32_t whole = frame.size;
    for (uint32_t size = 0; size < whole; size++) {
        frame.size = size;
        wire_reader_init(&reader, &frame);
        cr_assert_eq(message_take_args(&reader, &tapml_silu, &buffers, &args), TAPML_INVALID);
    }
}

Test(message, carries_weights_in_blocks)
{
    put_linear(TAPML_ENCODING_Q4, 4096 - 160); // Quants of 128 bytes, scales and mins of 16.
    cr_assert_eq(message_take_args(&reader, &tapml_linear, &buffers, &args), TAPML_OK, "%s",
                 status_message());
    const tapml_tensor *read = args.values[1].u.p;
    cr_assert_eq(read->encoding, encoding_find(TAPML_ENCODING_Q4));
    cr_assert_eq(read->dtype, TAPML_U8);
    cr_assert_eq(read->shape[1], 64);
    put_linear(TAPML_ENCODING_Q8, 0);
    for (size_t i = 0; i + 10 <= writer.size; i++) {
        if (memcmp(writer.data + i, "tapml.q8/1", 10) == 0) {
            writer.data[i + 6] = 'x';
        }
    }
    cr_assert_eq(message_take_args(&reader, &tapml_linear, &buffers, &args), TAPML_INVALID);
}

Test(message, refuses_tensors_that_cannot_be)
{
    const int64_t shape[] = {3, 5}, wide[] = {INT64_MAX / 2, 1}, deep[] = {INT64_MAX, INT64_MAX};
    const int64_t back[] = {-5, 1};
    const struct {
        const int64_t *shape, *stride;
        uint64_t offset;
    } wrong[] = {
        {shape, NULL, UINT64_MAX - 3}, {shape, wide, 0}, {deep, NULL, 0},
        {shape, back, 1024},           {back, NULL, 0},
    };
    const tapml_tensor y = tensor_of(shape, NULL, 4096 - 60);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const tapml_tensor x = tensor_of(wrong[i].shape, wrong[i].stride, wrong[i].offset);
        writer.size = 0;
        wire_begin(&writer, MESSAGE_CALL, 1);
        cr_assert_eq(put_silu(&x, &y), TAPML_OK);
        cr_assert_eq(take_silu(), TAPML_INVALID, "number %zu", i);
    }
}

Test(message, refuses_every_cut_of_a_call)
{
    const int64_t shape[] = {3, 5};
    const tapml_tensor x = tensor_of(shape, NULL, 0);
    cr_assert_eq(put_silu(&x, &x), TAPML_OK);
    turn_round();
    const uint32_t whole = frame.size;
    for (uint32_t size = 0; size < whole; size++) {
        frame.size = size;
        wire_reader_init(&reader, &frame);
        cr_assert_eq(message_take_args(&reader, &tapml_silu, &buffers, &args), TAPML_INVALID);
    }
}

Test(message, refuses_another_kind_and_a_missing_argument)
{
    const tapml_value kinds[] = {{.kind = TAPML_P_I64, .u.i = 1}, {.kind = TAPML_V_NONE}};
    for (size_t i = 0; i < 2; i++) {
        const tapml_value values[] = {kinds[i], kinds[i]};
        writer.size = 0;
        wire_begin(&writer, MESSAGE_CALL, 1);
        cr_assert_eq(message_put_args(&writer, &tapml_silu, values, number_of), TAPML_OK);
        cr_assert_eq(take_silu(), TAPML_INVALID);
    }
}

Test(message, carries_schemas_whole)
{
    for (size_t i = 0; tapml_ops[i]; i++) {
        const tapml_op *read = NULL;
        const char *identity = NULL;
        const struct arithmetic given = {TAPML_FORMAT_Q8, 32, TAPML_FORMAT_BF16, TAPML_FORMAT_F16,
                                         TAPML_FORMAT_TF32};
        struct arithmetic taken;
        writer.size = 0;
        wire_begin(&writer, MESSAGE_REPLY, 1);
        message_put_op(&writer, tapml_ops[i], "0f1e", &given);
        turn_round();
        cr_assert_eq(message_take_op(&reader, arena, &read, &identity, &taken), TAPML_OK, "%s",
                     status_message());
        cr_assert_str_eq(identity, "0f1e");
        cr_assert_eq(memcmp(&given, &taken, sizeof(given)), 0);
        cr_assert(wire_is_done(&reader));
        cr_assert_eq(compiled_same(schema_of(tapml_ops[i]), schema_of(read)), TAPML_OK, "%s",
                     status_message());
        cr_assert_str_eq(read->flops, tapml_ops[i]->flops);
        cr_assert_str_eq(read->tolerance, tapml_ops[i]->tolerance);
    }
}

Test(message, refuses_arithmetic_that_is_not_known)
{
    const struct arithmetic given = {.result = 99};
    const tapml_op *read = NULL;
    const char *identity = NULL;
    struct arithmetic taken;
    writer.size = 0;
    wire_begin(&writer, MESSAGE_REPLY, 1);
    message_put_op(&writer, tapml_ops[0], "0f1e", &given);
    turn_round();
    cr_assert_eq(message_take_op(&reader, arena, &read, &identity, &taken), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "results in format 99, which is not known");
}

Test(message, carries_settings)
{
    const struct message_setting given[] = {{"worker", "library", "/a b"}, {"x", "y", ""}};
    struct message_setting *read = NULL;
    size_t count = 0;
    message_put_settings(&writer, given, 2);
    turn_round();
    cr_assert_eq(message_take_settings(&reader, arena, &read, &count), TAPML_OK);
    cr_assert_eq(count, 2);
    cr_assert_str_eq(read[0].value, "/a b");
    cr_assert_str_eq(read[1].key, "y");
    frame.size--;
    wire_reader_init(&reader, &frame);
    cr_assert_eq(message_take_settings(&reader, arena, &read, &count), TAPML_INVALID);
}
