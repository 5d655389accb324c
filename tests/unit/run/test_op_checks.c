// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/sketch.h"
#include "harness/tensor_file.h"
#include "run/op_checks.h"

#include <tapml/ops.h>

enum { ROWS = 2, WIDTH = 2 };

#define ENTRY(name_, begin_, end_)                                                                 \
    "'" name_ "':{'dtype':'F32','shape':[2,2],'data_offsets':[" #begin_ "," #end_ "]}"

// x -> first (a.weight) -> act -> again (a.weight)
struct checked {
    struct scratch scratch;
    struct sketch sketch;
    struct checkpoint *file;
    struct op_checks *checks;
    uint32_t first, act, again; // Ops.
    uint32_t x, y, z, end;      // Values.
};

// `count` is that of the entries in `header`.
static tapml_status
open_checked(struct checked *checked, const char *header, size_t count, int64_t tokens)
{
    static const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct sketch *sketch = &checked->sketch;
    const struct affine rows = sketch_sum(0, 1), width = sketch_sum(WIDTH, 0);

    scratch_make(&checked->scratch);
    sketch_init(sketch);
    const uint32_t a = sketch_value(sketch, GRAPH_WEIGHT, "a.weight", width, WIDTH);

    checked->checks = NULL;
    checked->x = sketch_value(sketch, GRAPH_INPUT, "x", rows, WIDTH);
    checked->y = sketch_value(sketch, GRAPH_COMPUTED, "first", rows, WIDTH);
    checked->z = sketch_value(sketch, GRAPH_COMPUTED, "act", rows, WIDTH);
    checked->end = sketch_value(sketch, GRAPH_COMPUTED, "again", rows, WIDTH);
    checked->first = sketch_op(sketch, &tapml_linear, "first",
                               (const uint32_t[]){checked->x, a, GRAPH_NONE, checked->y});
    checked->act =
        sketch_op(sketch, &tapml_silu, "act", (const uint32_t[]){checked->y, checked->z});
    checked->again = sketch_op(sketch, &tapml_linear, "again",
                               (const uint32_t[]){checked->z, a, GRAPH_NONE, checked->end});
    checked->file = tensor_file_open(&checked->scratch, header, values, count * ROWS * WIDTH);
    return op_checks_create(&sketch->graph, checked->file, tokens, &checked->checks);
}

static void close_checked(struct checked *checked)
{
    op_checks_destroy(checked->checks);
    checkpoint_close(checked->file);
    scratch_remove(&checked->scratch);
}

// The one comparison of an op is that of an entry with a value.
static void
expect_one(const struct checked *checked, uint32_t op, const char *entry, uint32_t value)
{
    size_t count = 0;
    const struct op_check *check = op_checks_of(checked->checks, op, &count);

    cr_assert_eq(count, 1u);
    cr_assert_str_eq(check->entry->name, entry);
    cr_assert_eq(check->value, value);
    cr_assert(check->column == 0 && check->width == WIDTH);
    cr_assert_eq(checked->sketch.graph.ops[op].arguments[check->param].value, value);
}

Test(op_checks, entries_are_known_by_their_names)
{
    cr_assert(op_checks_is_entry("op.a.weight"));
    cr_assert(op_checks_is_entry("attention.0.query"));
    cr_assert_not(op_checks_is_entry("op."));
    cr_assert_not(op_checks_is_entry("hidden.1"));
}

Test(op_checks, each_op_that_reads_a_tensor_is_compared)
{
    static const char outputs[] = "{" ENTRY("op.a.weight", 0, 16) "," ENTRY(
        "after.a.weight", 16, 32) "," ENTRY("op.other", 32, 48) "}";
    struct checked checked;
    size_t unused = 0;

    cr_assert_eq(open_checked(&checked, outputs, 3, ROWS), TAPML_OK, "%s", status_message());
    expect_one(&checked, checked.first, "op.a.weight", checked.y);
    expect_one(&checked, checked.act, "after.a.weight", checked.z);
    expect_one(&checked, checked.again, "op.a.weight", checked.end);
    cr_assert_eq(op_checks_entries(checked.checks, &unused), 3u);
    cr_assert_eq(unused, 1u);
    close_checked(&checked);
}

Test(op_checks, an_input_is_that_of_each_op)
{
    struct checked checked;
    size_t count = 1;

    cr_assert_eq(open_checked(&checked, "{" ENTRY("in.a.weight", 0, 16) "}", 1, ROWS), TAPML_OK);
    expect_one(&checked, checked.first, "in.a.weight", checked.x);
    expect_one(&checked, checked.again, "in.a.weight", checked.z);
    (void)op_checks_of(checked.checks, checked.act, &count);
    cr_assert_eq(count, 0u);
    cr_assert(op_checks_is_whole(&checked.sketch.graph, checked.x));
    close_checked(&checked);
}

Test(op_checks, an_entry_of_another_shape_is_refused)
{
    struct checked checked;

    cr_assert_eq(open_checked(&checked, "{" ENTRY("op.a.weight", 0, 16) "}", 1, 3), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'op.a.weight'"));
    close_checked(&checked);
}
