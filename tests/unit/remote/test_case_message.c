// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "link/message.h"
#include "remote/case_message.h"

#include <criterion/criterion.h>

static struct wire_writer writer;

static void setup(void)
{
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    wire_writer_release(&writer);
}

TestSuite(case_message, .init = setup, .fini = teardown);

static tapml_status take(struct case_question *out_question)
{
    struct wire_frame frame;

    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    return case_message_take_ask(&frame, out_question);
}

Test(case_message, a_question_is_read_as_it_was_asked)
{
    const struct hash prompts[] = {{.high = 1, .low = 2}, {.high = UINT64_MAX, .low = 0}};
    struct case_question question;

    case_message_put_ask(&writer, "key", prompts, 2);
    cr_assert_eq(take(&question), TAPML_OK);
    cr_expect_str_eq(question.key, "key");
    cr_assert_eq(question.count, 2u);
    cr_expect(hash_equal(question.prompts[0], prompts[0]));
    cr_expect(hash_equal(question.prompts[1], prompts[1]));
    alloc_free(question.prompts);
}

Test(case_message, one_of_no_prompt_too)
{
    struct case_question question;

    case_message_put_ask(&writer, "", NULL, 0);
    cr_assert_eq(take(&question), TAPML_OK);
    cr_expect_eq(question.count, 0u);
    alloc_free(question.prompts);
}

Test(case_message, more_prompts_than_there_are_are_none)
{
    struct case_question question;

    wire_begin(&writer, CASE_ASK, 0);
    wire_put_text(&writer, "key");
    wire_put_u32(&writer, 3);
    wire_put_u64(&writer, 1);
    wire_put_u64(&writer, 2);
    wire_end(&writer);
    cr_expect_eq(take(&question), TAPML_INVALID);
}

Test(case_message, what_has_no_key_or_something_behind_it_is_none)
{
    struct case_question question;

    wire_begin(&writer, CASE_ASK, 0);
    wire_put_text(&writer, NULL);
    wire_put_u32(&writer, 0);
    wire_end(&writer);
    cr_expect_eq(take(&question), TAPML_INVALID);
    writer.size = 0;
    wire_begin(&writer, CASE_ASK, 0);
    wire_put_text(&writer, "key");
    wire_put_u32(&writer, 0);
    wire_put_u32(&writer, 7);
    wire_end(&writer);
    cr_expect_eq(take(&question), TAPML_INVALID);
}
