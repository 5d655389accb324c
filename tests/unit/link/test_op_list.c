// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "link/op_list.h"
#include "schema/catalogue.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

static struct arena *arena;
static struct catalogue *catalogue;
static struct op_list list;
static struct wire_writer writer;

static void setup(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    list = (struct op_list){.count = 0};
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    wire_writer_release(&writer);
    catalogue_destroy(catalogue);
    arena_destroy(arena);
}

TestSuite(op_list, .init = setup, .fini = teardown);

static const struct arithmetic declared = {.inputs = TAPML_FORMAT_Q8, .block = 32};

// Takes a list of silu and, where there are two, mul.
static tapml_status take(uint32_t count, int *out_is_new)
{
    struct wire_frame frame;
    struct wire_reader reader;
    writer.size = 0;
    wire_begin(&writer, MESSAGE_REPLY, 1);
    wire_put_u32(&writer, count);
    message_put_op(&writer, &tapml_silu, "one", &declared);
    if (count > 1) {
        message_put_op(&writer, &tapml_mul, "two", &arithmetic_f32);
    }
    wire_end(&writer);
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    wire_reader_init(&reader, &frame);
    return op_list_take(&list, &reader, arena, catalogue, "far", out_is_new);
}

Test(op_list, finds_ops_and_what_computes_them)
{
    int is_new = 0;
    cr_assert_eq(take(2, &is_new), TAPML_OK, "%s", status_message());
    cr_assert(is_new);
    cr_assert_eq(op_list_find(&list, &tapml_mul), 1);
    cr_assert_eq(op_list_find(&list, &tapml_mul), 1, "and from the slots");
    cr_assert_eq(op_list_find(&list, &tapml_add), list.count);
    cr_assert_str_eq(op_list_identity(&list, &tapml_silu), "one");
    cr_assert_eq(op_list_arithmetic(&list, &tapml_silu)->inputs, TAPML_FORMAT_Q8);
    cr_assert_eq(op_list_arithmetic(&list, &tapml_silu)->block, 32);
    cr_assert_not(arithmetic_is_reduced(op_list_arithmetic(&list, &tapml_mul)));
    cr_assert_not(arithmetic_is_reduced(op_list_arithmetic(&list, &tapml_add)));
    cr_assert_str_eq(op_list_identity(&list, &tapml_mul), "two");
}

Test(op_list, stays_where_the_far_side_starts_again)
{
    int is_new = 0;
    cr_assert_eq(take(2, &is_new), TAPML_OK);
    cr_assert_eq(take(2, &is_new), TAPML_OK);
    cr_assert_not(is_new);
    cr_assert_eq(take(1, &is_new), TAPML_DEVICE_LOST);
    cr_assert_str_eq(status_message(), "far: it has other ops than before");
}

Test(op_list, an_op_with_another_schema_is_lacking)
{
    tapml_op other = tapml_silu;
    struct catalogue_op found = {0};
    int is_new = 0;
    other.n_params--;
    cr_assert_eq(catalogue_add(catalogue, &other, "the host", &found), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(take(2, &is_new), TAPML_OK, "%s", status_message());
    cr_assert_eq(op_list_find(&list, &tapml_silu), list.count);
    cr_assert_eq(op_list_find(&list, &tapml_mul), 1, "its index on the wire stays");
}
