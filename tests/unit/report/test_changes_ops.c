// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed.h"
#include "report/changes_ops.h"

#include <math.h>

enum { KINDS = 5, CASES = 8 };

static struct changed changed;
static struct history history;
static struct changes_ops ops;

static void end(void)
{
    changes_ops_release(&ops);
    history_release(&history);
    changed_end(&changed);
}

TestSuite(changes_ops, .fini = end);

// Five ops with eight cases each, of 1 ms and some; `factor` is that of op 2 in the last run.
static void time_cases(size_t runs, double factor, double everywhere)
{
    changed_begin(&changed, runs);
    for (size_t run = 0; run < runs; run++) {
        json_t *cases = json_object_get(compared_target(changed.reports[run]), "cases");

        cr_assert_eq(json_array_clear(cases), 0);
        for (int i = 0; i < KINDS * CASES; i++) {
            const int kind = i % KINDS;
            const int is_slow = kind == 2 && run + 1 == runs;
            const double time_ns = (1e6 + 1e4 * (double)((i * 7 + (int)run * 3) % 5)) *
                                   (is_slow ? factor : 1) * (run + 1 == runs ? everywhere : 1);
            char op[16], instance[16];

            snprintf(op, sizeof(op), "x.op%d", kind);
            snprintf(instance, sizeof(instance), "i%d", i);
            json_t *item =
                json_pack("{s:s,s:s,s:s,s:s,s:I}", "op", op, "instance", instance, "phase",
                          "decode", "verdict", "pass", "time_ns", (json_int_t)time_ns);

            cr_assert_eq(json_array_append_new(cases, item), 0);
        }
    }
    cr_assert_eq(history_read(changed.sides, runs, &history), TAPML_OK);
    cr_assert_eq(changes_ops_make(&history, &ops), TAPML_OK);
}

static const struct changes_op *find(const char *op)
{
    for (size_t i = 0; i < ops.count; i++) {
        if (strcmp(ops.items[i].op, op) == 0) {
            return &ops.items[i];
        }
    }
    cr_assert_fail("no op '%s'", op);
    return NULL;
}

Test(changes_ops, flips_are_counted_by_op_and_by_target)
{
    changed_begin(&changed, 2);
    changed_set(&changed, 1, 2, "fail");
    compared_set(changed_case(&changed, 0, 0), "verdict", json_string("pass"));
    cr_assert_eq(history_read(changed.sides, 2, &history), TAPML_OK);
    cr_assert_eq(changes_ops_make(&history, &ops), TAPML_OK);
    cr_assert_eq(find("org.example.my_op")->flips[CHANGES_BROKE], 1);
    cr_assert_eq(find("tapml.silu")->flips[CHANGES_BROKE], 1);
    cr_assert_eq(find("")->flips[CHANGES_BROKE], 2);
    cr_assert_eq(find("")->cases, 5);
}

Test(changes_ops, one_op_is_slower)
{
    time_cases(2, 2, 1);
    cr_assert_eq(find("x.op2")->change.move, TIME_NOISE_SLOWER);
    cr_assert_float_eq(find("x.op2")->change.ratio, 2, 0.1);
    cr_assert_eq(find("x.op1")->change.move, TIME_NOISE_STILL);
    cr_assert_eq(find("")->change.move, TIME_NOISE_UNKNOWN);
}

Test(changes_ops, all_of_a_target_is_slower_unless_the_source_is_too)
{
    time_cases(4, 1, 1.5);
    cr_assert_eq(find("")->change.move, TIME_NOISE_SLOWER);
    cr_assert_eq(find("x.op2")->change.move, TIME_NOISE_STILL);
    end();
    changed_begin(&changed, 2);
    compared_set(compared_item(changed.reports[1], "ops", 0), "source_ns", json_integer(1000));
    compared_set(compared_item(changed.reports[1], "ops", 1), "source_ns", json_integer(1000));
    cr_assert_eq(history_read(changed.sides, 2, &history), TAPML_OK);
    cr_assert_eq(changes_ops_make(&history, &ops), TAPML_OK);
    cr_assert_float_eq(ops.controls[1], log(2), 1e-9);
}
