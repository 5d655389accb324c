// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/ops.h>
#include <tapml/signature.h>

#include <criterion/criterion.h>
#include <string.h>

static struct signature signature;
static char problem[256];

static int parse(const char *text)
{
    problem[0] = '\0';
    return signature_parse(text, &tapml_rms_norm, &signature, problem, sizeof(problem));
}

// y = rms_norm(x [2, 3, 4]) without a weight, and with eps 0.5.
static const int64_t shape[] = {2, 3, 4};
static tapml_tensor x = {
    .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 3, .shape = shape};
static tapml_tensor y = {
    .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 3, .shape = shape};
static tapml_value args[] = {
    [TAPML_RMS_NORM_X] = {.kind = TAPML_P_TENSOR_IN, .u.p = &x},
    [TAPML_RMS_NORM_WEIGHT] = {.kind = TAPML_V_NONE},
    [TAPML_RMS_NORM_EPS] = {.kind = TAPML_P_F64, .u.d = 0.5},
    [TAPML_RMS_NORM_OFFSET] = {.kind = TAPML_P_F64, .u.d = 0},
    [TAPML_RMS_NORM_Y] = {.kind = TAPML_P_TENSOR_OUT, .u.p = &y},
};

Test(signature, a_call_is_passed_whole)
{
    char reason[128];
    tapml_tensor strided = x;
    static const int64_t stride[] = {100, 10, 1};

    strided.stride = stride;
    args[TAPML_RMS_NORM_X].u.p = &strided;
    cr_assert(parse("*op *"), "%s", problem);
    cr_expect_eq(signature.arguments[0].property, SIGNATURE_OP);
    cr_expect_eq(signature.arguments[1].property, SIGNATURE_VALUES);
    cr_expect(signature_has_values(&signature));
    cr_expect(signature_takes(&signature, args, reason, sizeof(reason)), "%s", reason);
    args[TAPML_RMS_NORM_X].u.p = &x;
    cr_expect_not(parse("*x"));
    cr_expect_not_null(strstr(problem, "expected '*' or '*op'"), "%s", problem);
    cr_expect_not(parse("*:i64"));
    cr_expect_not(parse("*op"), "without the arguments there is no output");
    cr_expect_not(
        signature_parse_number("*", &tapml_rms_norm, &signature, problem, sizeof(problem)));
}

Test(signature, terms_are_what_a_call_has)
{
    static const int64_t expected[] = {24, 6, 4, 3, 1, 12, 0, -7};

    cr_assert(parse("x weight y eps:f32 x.count x.rows:i32 x.width x.1 x.5 x.stride0 x.stride4 -7"),
              "%s", problem);
    cr_assert_eq(signature.count, 12u);
    cr_expect_eq(signature_tensor(&signature.arguments[0], args), &x);
    cr_expect_null(signature_tensor(&signature.arguments[1], args));
    cr_expect_eq(signature_number(&signature.arguments[3], args), 0.5);
    cr_expect_eq(signature.arguments[3].type, TAPML_F32);
    cr_expect_eq(signature.arguments[4].type, TAPML_I64);
    cr_expect_eq(signature.arguments[5].type, TAPML_I32);
    for (uint32_t i = 0; i < 8; i++) {
        cr_expect_eq(signature_whole(&signature.arguments[4 + i], args), expected[i], "%u", i);
    }
    cr_expect(signature_takes(&signature, args, problem, sizeof(problem)), "%s", problem);
}

Test(signature, what_is_wrong_is_named_with_what_is_known)
{
    static const struct {
        const char *text, *problem;
    } wrong[] = {
        {"x yy", "'yy': tapml.rms_norm has no parameter 'yy', it has x weight eps offset y"},
        {"x y x.length", "'length' is none of count, rows, width"},
        {"x y x.6", "'6' is none of"},
        {"x y x.stride", "'' is none of"},
        {"x y eps.0", "'eps' is a number and has no extents"},
        {"x:f64 y", "the type is 'f64', expected f32, f16, bf16, i32 or u8"},
        {"x y x.rows:u8", "the type is 'u8', expected i32, i64, f32 or f64"},
        {"x weight", "output 'y' of tapml.rms_norm is not among the arguments"},
        {"", "output 'y'"},
        {":f32", "no parameter ''"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_not(parse(wrong[i].text), "%s", wrong[i].text);
        cr_expect_not_null(strstr(problem, wrong[i].problem), "%s: %s", wrong[i].text, problem);
    }
}

Test(signature, a_line_of_any_length_ends_in_a_sentence)
{
    char many[201], word[512];

    for (size_t i = 0; i + 1 < sizeof(many); i++) {
        many[i] = i % 2 == 0 ? 'x' : ' ';
    }
    many[sizeof(many) - 1] = '\0';
    cr_expect_not(parse(many));
    cr_expect_not_null(strstr(problem, "more than 64 arguments"), "%s", problem);
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    cr_expect_not(parse(word));
    cr_expect_not(signature_parse("x w y", &tapml_linear_experts, &signature, problem, 8));
    cr_expect_lt(strlen(problem), 8u);
}

Test(signature, lists_of_tensors_are_refused)
{
    cr_expect_not(
        signature_parse("x w y", &tapml_linear_experts, &signature, problem, sizeof(problem)));
    cr_expect_neq(*problem, '\0');
}

Test(signature, a_call_that_the_function_does_not_take_is_told_why)
{
    static const int64_t apart[] = {24, 8, 1};
    static const tapml_encoding encoding = {.hdr = TAPML_HDR(tapml_encoding), .id = "tapml.q8/1"};
    tapml_tensor other = x;
    tapml_value given[5];

    memcpy(given, args, sizeof(given));
    given[TAPML_RMS_NORM_X].u.p = &other;
    cr_assert(parse("x y"));
    other.dtype = TAPML_BF16;
    cr_expect_not(signature_takes(&signature, given, problem, sizeof(problem)));
    cr_expect_str_eq(problem, "'x' is bf16, the function takes f32");
    other = x;
    other.stride = apart;
    cr_expect_not(signature_takes(&signature, given, problem, sizeof(problem)));
    cr_expect_str_eq(problem, "'x' is not dense, and its strides are no arguments");
    other = x;
    other.encoding = &encoding;
    cr_expect_not(signature_takes(&signature, given, problem, sizeof(problem)));
    other = x;
    given[TAPML_RMS_NORM_WEIGHT] = (tapml_value){.kind = TAPML_P_TENSOR_IN, .u.p = &y};
    cr_expect_not(signature_takes(&signature, given, problem, sizeof(problem)));
    cr_expect_str_eq(problem, "'weight' is there, and no argument of the function");
    other.stride = apart;
    given[TAPML_RMS_NORM_WEIGHT] = (tapml_value){.kind = TAPML_V_NONE};
    cr_assert(parse("x x.stride0 x.stride1 x.stride2 y"));
    cr_expect(signature_takes(&signature, given, problem, sizeof(problem)), "%s", problem);
}
