// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_refusals.h"

#include <criterion/criterion.h>

static json_t *instance(const char *name, const char *op, const char *state, const char *reason)
{
    return json_pack("{s:s,s:s,s:s,s:s}", "instance", name, "op", op, "state", state, "reason",
                     reason);
}

static void check(const json_t *target, const char *expected)
{
    struct text text;

    text_init(&text);
    report_refusals_print(target, &text);
    cr_expect_eq(text_status(&text), TAPML_OK);
    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

Test(report_refusals, a_line_is_of_an_op_and_a_reason)
{
    json_t *target =
        json_pack("{s:[o,o,o,o,o,o]}", "instances",
                  instance("layers.0/silu", "tapml.silu", "unsupported", "there is no silu"),
                  instance("layers.0/add", "tapml.add", "unsupported", "there is no add"),
                  instance("layers.1/silu", "tapml.silu", "unsupported", "there is no silu"),
                  instance("layers.1/add", "tapml.add", "right", "there is no add"),
                  instance("layers.2/silu", "tapml.silu", "unsupported", "it is too large"),
                  instance("layers.3/silu", "tapml.silu", "unsupported", "there is no silu"));

    check(target, "unsupported: layers.0/silu (tapml.silu) and 2 more: there is no silu\n"
                  "unsupported: layers.0/add (tapml.add): there is no add\n"
                  "unsupported: layers.2/silu (tapml.silu): it is too large\n");
    cr_expect(report_refusals_has(target, "tapml.silu", "it is too large"));
    cr_expect_not(report_refusals_has(target, "tapml.add", "it is too large"));
    json_decref(target);
}

Test(report_refusals, what_refuses_nothing_has_no_line)
{
    json_t *target = json_pack("{s:[o]}", "instances", instance("a", "tapml.add", "right", ""));

    check(target, "");
    cr_expect_not(report_refusals_has(target, "tapml.add", ""));
    json_decref(target);
    target = json_object();
    check(target, "");
    json_decref(target);
}
