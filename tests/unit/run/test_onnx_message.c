// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/onnx_message.h"

#include <tapml/tensor.h>

#include <criterion/criterion.h>
#include <string.h>

static struct text message;

static void begin(void)
{
    text_init(&message);
}

static void end(void)
{
    text_release(&message);
}

TestSuite(onnx_message, .init = begin, .fini = end);

static void is(const void *bytes, size_t size)
{
    cr_assert_eq(text_status(&message), TAPML_OK);
    cr_assert_eq(message.length, size);
    cr_expect_eq(memcmp(message.data, bytes, size), 0);
}

Test(onnx_message, numbers_are_varints)
{
    onnx_message_number(&message, 1, 150);
    onnx_message_number(&message, 20, 0);
    onnx_message_number(&message, 3, -1);
    is("\x08\x96\x01\xa0\x01\x00\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 17);
}

Test(onnx_message, a_tensor_has_extents_type_name_and_bytes)
{
    static const int64_t shape[] = {2};
    static const float data[] = {1, 2};
    const struct onnx_tensor tensor = {.name = "x",
                                       .dtype = TAPML_F32,
                                       .rank = 1,
                                       .shape = shape,
                                       .data = data,
                                       .bytes = sizeof(data)};

    onnx_message_tensor(&message, 0, &tensor);
    is("\x08\x02\x10\x01\x42\x01x\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\x40", 17);
    text_clear(&message);
    onnx_message_value(&message, 11, &tensor);
    is("\x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x02", 17);
}

Test(onnx_message, types_are_those_of_onnx)
{
    cr_expect_eq(onnx_message_type(TAPML_I64), 7u);
    cr_expect_eq(onnx_message_type(TAPML_BF16), 16u);
    cr_expect_eq(onnx_message_type(12345), 0u);
}
