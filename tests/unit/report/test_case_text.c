// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/cases.h"
#include "report/case_text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct cases_norm norm;
static struct text text;

static void begin(void)
{
    cases_make_norm(&norm, "layers.0/norm", 3);
    text_init(&text);
}

static void end(void)
{
    text_release(&text);
}

TestSuite(case_text, .init = begin, .fini = end);

static void expect(const char *piece)
{
    cr_assert_eq(text_status(&text), TAPML_OK);
    cr_expect_not_null(strstr(text.data, piece), "'%s' is not in:\n%s", piece, text.data);
}

Test(case_text, a_case_is_named_and_its_arguments_are_measured)
{
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        norm.x[i] = (float)i - 2;
        norm.y[i] = i == 4 ? NAN : 2;
    }
    norm.item.id = 12;
    case_text_print_name(&norm.item, &text);
    expect("case 12: layers.0/norm, tapml.rms_norm, ");
    case_text_print_arguments(&norm.item, &text);
    expect(" f32 [2, 3]  in -2 .. 3, mean 0.5, rms 1.77951\n");
    expect("  in the checkpoint: norm.weight\n");
    expect(" f32 [2, 3]  out 2 .. 2, mean 2, rms 2, 1 not finite\n");
}

Test(case_text, a_verdict_has_its_measures)
{
    struct element element = {.param = "y", .place = "1, 2", .expected = 1, .computed = 2};
    const struct output_error errors[] = {{.param = "y",
                                           .class_ = "reduction",
                                           .nmse = 1e-4,
                                           .cosine = 0.99995,
                                           .ulp = 77,
                                           .place = "1, 2",
                                           .expected = 1,
                                           .computed = 2},
                                          {.param = "z", .is_equal = 1}};
    const struct verdict verdict = {.kind = VERDICT_FAIL,
                                    .margin = 4.5,
                                    .reason = "y is wrong",
                                    .errors = errors,
                                    .error_count = 2,
                                    .elements = {.items = &element, .count = 1}};

    case_text_print_verdict("gpu", &verdict, &text);
    expect("gpu: fail, margin 4.5: y is wrong\n");
    expect("  y: error 0.01 (NMSE 0.0001, 40.0 dB), cosine 0.99995, at most 77 ULP; worst [1, 2]: "
           "expected 1, computed 2\n");
    expect("  z: equal in every bit\n");
    expect("  y[1, 2]: expected 1, computed 2, 0 is allowed\n");
}

Test(case_text, values_are_printed_by_their_places)
{
    norm.x[5] = 0.25F;
    cr_assert_eq(case_text_print_values(&norm.item, "x", "1, 2", &text), TAPML_OK, "%s",
                 status_message());
    expect("x[1, 2] 0.25\n");
    cr_expect_eq(strchr(text.data, '\n')[1], '\0', "one line");
}

// What goes in and what comes out of a state, whose rows are those that were kept.
Test(case_text, a_state_has_two_values_in_a_line)
{
    static struct cases_append append;

    cases_make_append(&append, "layers.0/append", 0);
    append.before[0] = 3;
    append.after[0] = 4;
    cr_assert_eq(case_text_print_values(&append.item, append.arguments[0].name, "0, 0, 0", &text),
                 TAPML_OK, "%s", status_message());
    expect("[0, 0, 0] 3 4\n");
}

Test(case_text, what_is_not_there_is_said)
{
    cr_expect_eq(case_text_print_values(&norm.item, "weight", NULL, &text), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "no values of 'weight', it has those of x y"), "%s",
                       status_message());
    cr_expect_eq(case_text_print_values(&norm.item, "x", "7", &text), TAPML_INVALID);
    norm.arguments[0].shape[1] = 5000;
    cr_expect_eq(case_text_print_values(&norm.item, "x", NULL, &text), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "10000 elements there, at most 4096"), "%s",
                       status_message());
}
