// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/text.h"
#include "schema/compiled.h"
#include "stranger.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct stranger stranger;
static struct arena *arena;

static void begin(void)
{
    stranger_init(&stranger);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(split, .init = begin, .fini = end);

static const struct compiled_op *compile(const tapml_op *op)
{
    const struct compiled_op *schema = NULL;
    cr_assert_eq(compiled_create(op, arena, &schema), TAPML_OK, "%s", status_message());
    return schema;
}

static tapml_status read_text(const char *text)
{
    const struct compiled_op *schema = NULL;
    stranger.op.split = text;
    return compiled_create(&stranger.op, arena, &schema);
}

Test(split, a_rule_is_symbols_and_what_becomes_of_the_outputs)
{
    const struct compiled_op *linear = compile(&tapml_linear);
    struct text text;
    text_init(&text);
    cr_assert_eq(linear->split_count, 2);
    cr_expect_not(linear->splits[0].is_sum);
    cr_expect(linear->splits[1].is_sum);
    split_print(&linear->names, &linear->splits[0], &text);
    text_append(&text, ", ");
    split_print(&linear->names, &linear->splits[1], &text);
    text_append(&text, ", ");
    const struct compiled_op *attention = compile(&tapml_attention);
    split_print(&attention->names, &attention->splits[0], &text);
    cr_expect_str_eq(text.data, "out, in: sum, hq hk");
    text_release(&text);
}

Test(split, an_op_may_have_no_rule)
{
    cr_assert_eq(read_text(NULL), TAPML_OK);
    stranger.op.hdr.struct_size = TAPML_END(tapml_op, critical); // Of a plugin before the rules.
    cr_assert_eq(read_text("nonsense"), TAPML_OK, "it is not there");
}

Test(split, rules_are_no_part_of_the_fingerprint)
{
    stranger.op.split = "rows | width";
    const struct compiled_op *with = compile(&stranger.op);
    stranger.op.split = NULL;
    const struct compiled_op *without = compile(&stranger.op);
    cr_expect_eq(compiled_same(with, without), TAPML_OK);
}

Test(split, what_is_wrong_is_named)
{
    static const struct {
        const char *text, *piece;
    } wrong[] = {
        {"", "names no axis"},
        {" ", "names no axis"},
        {"width |", "names no axis"},
        {"| width", "names no axis"},
        {"factor", "names what is no axis"}, // A number.
        {"depth", "names what is no axis"},
        {"width: add", "something else than 'sum'"},
        {"width: sum sum", "something else than 'sum'"},
        {"width: sums", "something else than 'sum'"},
        {"width:", "something else than 'sum'"},
        {"width: sum", "cannot be added up"},
        {"rows width", "cuts two axes of a tensor"},
        {"width width", "cuts two axes of a tensor"},
        {"width|width|width|width|width|width|width|width|width", "too many rules"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(read_text(wrong[i].text), TAPML_INVALID, "'%s'", wrong[i].text);
        cr_expect_not_null(strstr(status_message(), wrong[i].piece), "'%s': %s", wrong[i].text,
                           status_message());
    }
    stranger.y.shape = "*rows, 2 * width";
    cr_expect_eq(read_text("width"), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "cuts no axis of an output"));
    cr_expect_eq(read_text("rows"), TAPML_OK, "%s", status_message());
}

Test(split, what_would_be_added_twice_is_left_out)
{
    const struct compiled_op *linear = compile(&tapml_linear);
    cr_expect(split_leaves_out(linear->op, &linear->splits[1], TAPML_LINEAR_B, 0));
    cr_expect_not(split_leaves_out(linear->op, &linear->splits[1], TAPML_LINEAR_W, 1));
    cr_expect_not(split_leaves_out(linear->op, &linear->splits[0], TAPML_LINEAR_B, 1));
}

Test(split, all_rules_of_the_catalogue_can_be_read)
{
    uint32_t with = 0;
    for (size_t i = 0; tapml_ops[i]; i++) {
        with += compile(tapml_ops[i])->split_count > 0;
    }
    cr_expect_gt(with, 30);
}
