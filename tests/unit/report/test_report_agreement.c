// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "report/report_agreement.h"

#include <criterion/criterion.h>

// A target whose instance of silu has this state; of a wrong one, what it computes.
#define TARGET(name_, state_, computed_)                                                           \
    "{\"name\": \"" name_ "\", \"instances\": [{\"op\": \"tapml.silu\", \"state\": \"" state_      \
    "\", \"margin\": 1}], \"blamed\": [{\"case\": {\"op\": \"tapml.silu\", \"key\": \"01\", "      \
    "\"values\": ["                                                                                \
    "{\"param\": \"y\", \"place\": \"0, 1\", \"computed\": " computed_ "}]}}]}"

static void expect(const char *document, const char *op, const char *sentence)
{
    json_t *targets = json_loads(document, 0, NULL);
    struct text text;

    cr_assert_not_null(targets);
    text_init(&text);
    cr_expect_eq(report_agreement_print(targets, op, &text), *sentence != '\0');
    cr_expect_str_eq(text.data, sentence);
    text_release(&text);
    json_decref(targets);
}

Test(report_agreement, those_that_agree_are_named)
{
    expect("[" TARGET("a", "right", "1") "," TARGET("b", "wrong", "1") "," TARGET("c", "right",
                                                                                  "1") "]",
           "tapml.silu", "silu: 2 of 3 targets agree with the source: a, c");
    expect("[" TARGET("a", "wrong", "1") "," TARGET("b", "right", "1") "]", "tapml.silu",
           "silu: 1 of 2 targets agrees with the source: b");
}

Test(report_agreement, what_is_wrong_in_one_way_is_told)
{
    expect("[" TARGET("a", "right", "1") "," TARGET("b", "wrong", "2") "," TARGET("c", "wrong",
                                                                                  "2.001") "]",
           "tapml.silu",
           "silu: 1 of 3 targets agrees with the source: a; the others compute the same values as "
           "each other");
    expect("[" TARGET("a", "wrong", "2") "," TARGET("b", "wrong", "2.001") "]", "tapml.silu",
           "silu: none of 2 targets agrees with the source, and they compute the same values: look "
           "at the source first");
    expect("[" TARGET("a", "wrong", "\"Infinity\"") "," TARGET("b", "wrong", "\"Infinity\"") "]",
           "tapml.silu",
           "silu: none of 2 targets agrees with the source, and they compute the same values: look "
           "at the source first");
}

Test(report_agreement, what_is_wrong_in_several_ways_is_no_fault_of_the_source)
{
    static const char none[] = "silu: none of 2 targets agrees with the source";

    expect("[" TARGET("a", "wrong", "2") "," TARGET("b", "wrong", "2.1") "]", "tapml.silu", none);
    expect("[" TARGET("a", "wrong", "\"Infinity\"") "," TARGET("b", "wrong", "2") "]", "tapml.silu",
           none);
    expect("[" TARGET("a", "wrong", "2") ", {\"name\": \"b\", \"instances\": [{\"op\": "
                                         "\"tapml.silu\", \"state\": \"wrong\"}], \"blamed\": []}]",
           "tapml.silu", none);
}

Test(report_agreement, nothing_is_said_where_there_is_nothing_to_say)
{
    expect("[" TARGET("a", "right", "1") "," TARGET("b", "right", "1") "]", "tapml.silu", "");
    expect("[" TARGET("a", "wrong", "1") "," TARGET("b", "unsupported", "1") "]", "tapml.silu", "");
    expect("[" TARGET("a", "wrong", "1") "]", "tapml.silu", "");
    expect("[" TARGET("a", "wrong", "1") "," TARGET("b", "right", "1") "]", "tapml.mul", "");
    expect("[]", "tapml.silu", "");
}
