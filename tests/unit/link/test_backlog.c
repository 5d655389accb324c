// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/schemas.h"
#include "link/backlog.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static const struct compiled_op *ops[2];
static struct wire_writer writer;

static void setup(void)
{
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    wire_writer_release(&writer);
}

TestSuite(backlog, .init = setup, .fini = teardown);

static uint32_t no_number(const tapml_object *buffer)
{
    return 1;
}

// silu of so many rows of 1000.
static void put_call(uint64_t number, const char *instance, int64_t rows)
{
    const int64_t shape[] = {rows, 1000};
    const tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = &x}};
    wire_begin(&writer, MESSAGE_CALL, number);
    wire_put_u32(&writer, 0);
    wire_put_text(&writer, instance);
    cr_assert_eq(message_put_args(&writer, &tapml_silu, values, no_number), TAPML_OK);
    wire_end(&writer);
}

static void put_flush(uint64_t number)
{
    wire_begin(&writer, MESSAGE_FLUSH, number);
    wire_end(&writer);
}

static struct backlog whole(void)
{
    ops[0] = schema_of(&tapml_silu);
    ops[1] = schema_of(&tapml_linear);
    return (struct backlog){writer.data, writer.size, ops, 2};
}

static void is_told(uint64_t at, const char *text, int is_sure)
{
    const struct backlog backlog = whole();
    const struct backlog_culprit culprit = backlog_find_culprit(&backlog, at);
    char found[256];
    backlog_print(&culprit, found, sizeof(found));
    cr_assert_str_eq(found, text);
    cr_assert_eq(culprit.is_sure, is_sure);
}

Test(backlog, names_the_call_at_work)
{
    put_call(1, "layers.0/act", 1);
    put_call(2, "layers.1/act", 1);
    put_flush(3);
    is_told(1, " while it ran silu at 'layers.0/act'", 1);
    is_told(2, " while it ran silu at 'layers.1/act'", 1);
    is_told(3, " while or after it ran silu at 'layers.1/act'", 0);
}

Test(backlog, is_sure_where_there_is_but_one_call)
{
    put_call(1, "layers.0/act", 1);
    put_flush(2);
    is_told(2, " while or after it ran silu at 'layers.0/act'", 1);
}

static void put_stamp(uint64_t number)
{
    wire_begin(&writer, MESSAGE_STAMP, number);
    wire_end(&writer);
}

Test(backlog, what_is_in_front_of_a_stamp_is_done)
{
    put_call(1, "layers.0/act", 1);
    put_stamp(2);
    put_call(3, "layers.1/act", 1);
    put_stamp(4);
    put_flush(5);
    is_told(2, " while or after it ran silu at 'layers.0/act'", 1);
    is_told(3, " while it ran silu at 'layers.1/act'", 1);
    is_told(4, " while or after it ran silu at 'layers.1/act'", 1);
    is_told(5, "", 0);
}

Test(backlog, names_nobody_where_nothing_was_called)
{
    is_told(0, "", 0);
    put_flush(1);
    is_told(1, "", 0);
}

Test(backlog, allows_what_the_calls_cost)
{
    struct backlog backlog = whole();
    cr_assert_eq(backlog_allowance_ns(&backlog), 0);
    put_flush(1);
    put_call(2, "a", 1);
    backlog = whole();
    const uint64_t one = backlog_allowance_ns(&backlog);
    cr_assert_gt(one, 0);
    put_call(3, "b", 3);
    backlog = whole();
    cr_assert_float_eq((double)backlog_allowance_ns(&backlog), 4.0 * (double)one, 4.0);
}

Test(backlog, bears_frames_of_ops_that_are_not_there)
{
    put_call(1, "a", 1);
    struct backlog backlog = whole();
    backlog.op_count = 0;
    cr_assert_null(backlog_find_culprit(&backlog, 1).op);
    cr_assert_eq(backlog_allowance_ns(&backlog), 0);
    backlog.size -= 1; // Half a frame is none.
    cr_assert_null(backlog_find_culprit(&backlog, 1).op);
}

Test(backlog, knows_the_ops_that_are_called)
{
    put_flush(1);
    const struct backlog none = whole();
    cr_expect_not(backlog_calls(&none, &tapml_silu));
    put_call(2, "layers.0/act", 1);
    put_flush(3);
    const struct backlog one = whole();
    cr_expect(backlog_calls(&one, &tapml_silu));
    cr_expect_not(backlog_calls(&one, &tapml_linear));
}
