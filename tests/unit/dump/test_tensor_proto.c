// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/dump.h"
#include "dump/tensor_proto.h"

#include <criterion/criterion.h>
#include <string.h>

static struct dump *dump;

static void begin(void)
{
    cr_assert_eq(dump_create("here", &dump), TAPML_OK);
}

static void end(void)
{
    dump_destroy(dump);
}

TestSuite(tensor_proto, .init = begin, .fini = end);

// The dump refers to the bytes, as to those of a mapped file, longer than a literal lives.
static tapml_status add(const unsigned char *bytes, size_t size)
{
    static unsigned char files[16][64];
    static size_t count;

    cr_assert_lt(count, sizeof(files) / sizeof(*files));
    cr_assert_leq(size, sizeof(*files));
    memcpy(files[count], bytes, size);
    return tensor_proto_add(dump, "file", files[count++], size);
}

#define ADD(...)                                                                                   \
    add((const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__}))

Test(tensor_proto, raw_data_is_taken_as_it_is)
{
    // dims: 1, 2 (one by one); type f32; name "xy"; raw data.
    cr_assert_eq(
        ADD(0x08, 1, 0x08, 2, 0x10, 1, 0x42, 2, 'x', 'y', 0x4a, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(dump->count, 1u);
    const struct dump_tensor *tensor = &dump->tensors[0];
    float values[2];

    memcpy(values, tensor->data, sizeof(values));
    cr_assert_str_eq(tensor->name, "xy");
    cr_assert(tensor->dtype == TAPML_F32 && tensor->rank == 2 && tensor->shape[1] == 2);
    cr_assert(values[0] == 1 && values[1] == 2);
}

Test(tensor_proto, packed_fields_are_unpacked)
{
    // dims packed: 2; type i64; values 300 and -1; without a name.
    cr_assert_eq(ADD(0x0a, 1, 2, 0x10, 7, 0x3a, 12, 0xac, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                     0xff, 0xff, 0xff, 0x01),
                 TAPML_OK, "%s", status_message());
    int64_t values[2];

    memcpy(values, dump->tensors[0].data, sizeof(values));
    cr_assert_str_eq(dump->tensors[0].name, "file");
    cr_assert(values[0] == 300 && values[1] == -1);
    // f32 in the field of its own.
    cr_assert_eq(ADD(0x08, 1, 0x10, 1, 0x22, 4, 0, 0, 0x80, 0x3f), TAPML_OK);
    cr_assert_eq(dump->count, 2u);
}

Test(tensor_proto, types_without_a_dtype_are_counted)
{
    cr_assert_eq(ADD(0x08, 1, 0x10, 8, 0x32, 1, 'a'), TAPML_OK);
    cr_assert_eq(ADD(0x08, 1, 0x08, 1, 0x08, 1, 0x08, 1, 0x08, 1, 0x08, 1, 0x08, 1, 0x10, 1),
                 TAPML_OK);
    cr_assert_eq(dump->skipped, 2u);
    cr_assert_eq(dump->count, 0u);
}

Test(tensor_proto, messages_that_lie_are_refused)
{
    cr_assert_eq(ADD(0x08, 2, 0x10, 1, 0x4a, 4, 0, 0, 0, 0), TAPML_INVALID, "too few bytes");
    cr_assert_eq(ADD(0x08, 2, 0x10, 1, 0x22, 4, 0, 0, 0, 0), TAPML_INVALID, "too few floats");
    cr_assert_eq(ADD(0x08, 2, 0x10, 7, 0x3a, 1, 5), TAPML_INVALID, "too few numbers");
    cr_assert_eq(ADD(0x08, 1, 0x10, 7, 0x3a, 2, 5, 5), TAPML_INVALID, "too many numbers");
    cr_assert_eq(ADD(0x08, 1, 0x10, 7, 0x22, 4, 0, 0, 0, 0), TAPML_INVALID, "another field");
    cr_assert_eq(ADD(0x08, 1, 0x10, 1, 0x6a, 0), TAPML_INVALID, "data elsewhere");
    cr_assert_eq(ADD(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x10, 1),
                 TAPML_INVALID, "an extent below 0");
    cr_assert_eq(ADD(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x10, 7, 0x3a, 1, 5),
                 TAPML_INVALID, "vast");
    cr_assert_eq(ADD(0x4a, 9, 0), TAPML_INVALID, "no message");
    cr_assert_eq(tensor_proto_add(dump, "file", "", 0), TAPML_INVALID);
}
