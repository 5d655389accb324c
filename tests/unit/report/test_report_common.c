// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_common.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

// Four instances, each with one case.
enum { COUNT = 4 };

static struct instance_row instances[COUNT];
static struct blame_row blames[COUNT];
static struct element elements[COUNT];
static struct verdict verdicts[COUNT];
static enum report_place places[COUNT];
static struct report_rows rows;
static struct text text;

static void begin(void)
{
    static const char *const names[COUNT] = {"a", "b", "c", "d"};

    for (size_t i = 0; i < COUNT; i++) {
        instances[i] =
            (struct instance_row){.instance = names[i], .op = i < 2 ? "tapml.add" : "tapml.mul"};
        blames[i] = (struct blame_row){
            .instance = names[i], .kind = BLAME_ALONE, .evidence = BLAME_CASE, .reason = ""};
        elements[i] = (struct element){.param = "y", .place = "0", .expected = 2, .computed = 0};
        verdicts[i] = (struct verdict){.instance = names[i],
                                       .phase = i == 0 ? "prefill" : "decode",
                                       .kind = VERDICT_FAIL,
                                       .reason = "y[0] is 0",
                                       .elements = {.items = &elements[i], .count = 1}};
    }
    text_init(&text);
}

static void end(void)
{
    text_release(&text);
}

TestSuite(report_common, .init = begin, .fini = end);

// The sentence where the first `failed` of the instances are blamed.
static const char *print(size_t failed)
{
    rows = (struct report_rows){.target.name = "gpu",
                                .instances = instances,
                                .instance_count = COUNT,
                                .places = places,
                                .blames = blames,
                                .blame_count = failed,
                                .verdicts = {.items = verdicts, .count = failed},
                                .moved = COUNT - failed,
                                .blamed = failed};
    for (size_t i = 0; i < COUNT; i++) {
        places[i] = i < failed ? REPORT_BLAMED : REPORT_ON_TARGET;
    }
    text_clear(&text);
    report_common_print(&rows, &text);
    return text.data;
}

Test(report_common, half_of_it_is_a_list)
{
    cr_expect_str_eq(print(0), "");
    cr_expect_str_eq(print(2), "");
}

Test(report_common, more_than_half_is_a_sentence)
{
    cr_expect_str_eq(print(3),
                     "3 of the 4 instances that were judged on 'gpu' fail, of 2 kinds of "
                     "operators, in prefill and in decode; each of their 3 failing cases gives "
                     "zero where something else is expected: look for one cause below them before "
                     "you look at each");
}

static void expect_manner(const char *manner)
{
    const char *sentence = print(COUNT);

    cr_expect_not_null(strstr(sentence, manner), "'%s' lacks '%s'", sentence, manner);
}

Test(report_common, the_manner_is_named_if_all_fail_alike)
{
    for (size_t i = 0; i < COUNT; i++) {
        elements[i].computed = (double)NAN;
        verdicts[i].phase = "decode";
    }
    expect_manner(", in decode alone; each of their 4 failing cases gives NaN: look");
    elements[1].computed = 1;
    expect_manner(", in decode alone: look");
    for (size_t i = 0; i < COUNT; i++) {
        verdicts[i].reason = "'y' was not written from element 0, poison is left";
    }
    expect_manner("; each of their 4 failing cases leaves its output unwritten: look");
    for (size_t i = 0; i < COUNT; i++) {
        verdicts[i].kind = VERDICT_ERROR;
    }
    expect_manner("; each of their 4 failing cases ends in an error: look");
}
