// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "new_store.h"
#include "store/call_line.h"

TestSuite(call_line, .init = make_store, .fini = remove_store);

static struct call_line call(int is_kept)
{
    return (struct call_line){
        .instance = "layers.0/mlp/silu",
        .prompt = {1, 2},
        .step = 3,
        .phase = "decode",
        .shape_class = "x=[1,352]",
        .time_ns = 1234,
        .is_kept = is_kept,
        .output_count = 2,
        .outputs = {{.param = "y", .least = 0.25, .largest = 4, .mean_square = 2, .count = 352},
                    {.param = "z",
                     .largest = 1,
                     .non_finite = 3,
                     .non_finite_kinds = CALL_LINE_NAN | CALL_LINE_PLUS_INFINITY,
                     .count = 7}},
    };
}

struct visited {
    int count;
    struct call_line last;
};

static void visit(void *user, const struct call_line *found)
{
    struct visited *visited = user;
    visited->count++;
    visited->last = *found;
    cr_expect_str_eq(found->instance, "layers.0/mlp/silu");
    cr_expect_str_eq(found->phase, "decode");
    cr_expect_str_eq(found->shape_class, "x=[1,352]");
    if (found->output_count == 2) {
        cr_expect_str_eq(found->outputs[0].param, "y");
        cr_expect_str_eq(found->outputs[1].param, "z");
    }
}

Test(call_line, calls_are_visited)
{
    struct call_line first = call(1);
    struct call_line second = call(0);
    struct visited visited = {0};
    cr_assert_eq(call_line_visit(store, visit, &visited), TAPML_OK);
    cr_assert_eq(visited.count, 0);
    second.step = 4;
    second.output_count = 0;
    cr_assert_eq(call_line_add(store, &second), TAPML_OK);
    cr_assert_eq(call_line_add(store, &first), TAPML_OK);
    cr_assert_eq(call_line_visit(store, visit, &visited), TAPML_OK);
    cr_assert_eq(visited.count, 2);
    cr_assert_eq(visited.last.step, 3);
    cr_assert_eq(visited.last.time_ns, 1234);
    cr_assert_eq(visited.last.is_kept, 1);
    cr_assert(hash_equal(visited.last.prompt, first.prompt));
    cr_assert_eq(visited.last.output_count, 2);
    cr_assert_eq(visited.last.outputs[0].least, 0.25);
    cr_assert_eq(visited.last.outputs[0].mean_square, 2);
    cr_assert_eq(visited.last.outputs[1].largest, 1);
    cr_assert_eq(visited.last.outputs[1].non_finite, 3);
    cr_assert_eq(visited.last.outputs[1].non_finite_kinds, CALL_LINE_NAN | CALL_LINE_PLUS_INFINITY);
    cr_assert_eq(visited.last.outputs[1].count, 7);
}

Test(call_line, damaged_calls_are_named)
{
    struct call_line added = call(1);
    struct visited visited = {0};
    cr_assert_eq(call_line_add(store, &added), TAPML_OK);
    execute("PRAGMA foreign_keys = OFF; UPDATE call SET prompt = 'none'");
    cr_assert_eq(call_line_visit(store, visit, &visited), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), path), "%s", status_message());
    execute("UPDATE call SET prompt = '00000000000000010000000000000002';"
            "INSERT INTO statistic SELECT call.id, value, 0, 0, 0, 0, 0, 0"
            "  FROM call, json_each('[1,2,3,4,5,6,7,8,9]')");
    cr_assert_eq(call_line_visit(store, visit, &visited), TAPML_INVALID);
}

Test(call_line, a_call_that_was_kept_stays_so)
{
    struct call_line first = call(1);
    struct call_line second = call(0);
    second.time_ns = 99;
    cr_assert_eq(call_line_add(store, &first), TAPML_OK);
    cr_assert_eq(call_line_add(store, &second), TAPML_OK);
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 1);
    cr_assert_eq(number_of("SELECT kept FROM call"), 1);
    cr_assert_eq(number_of("SELECT time_ns FROM call"), 99);
    cr_assert_eq(number_of("SELECT count(*) FROM statistic"), 2);
}
