// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

#include <jansson.h>

// The first entry of the JSON list that `words` ask for.
static json_t *first_of(struct printed *printed)
{
    json_error_t error;
    json_t *list = json_loads(printed->out, 0, &error);

    cr_assert_eq(printed->outcome, OUTCOME_OK, "%s", printed->err);
    cr_assert_not_null(list, "%s", error.text);
    json_t *first = json_incref(json_array_get(list, 0));

    cr_assert_not_null(first);
    json_decref(list);
    printed_release(printed);
    return first;
}

static void expect_refused(struct printed printed, const char *message)
{
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_str_empty(printed.out);
    cr_assert_not_null(strstr(printed.err, message), "%s", printed.err);
    printed_release(&printed);
}

Test(command_models, one_is_printed_whole)
{
    struct printed printed = PRINTED(command_models_main, "gpt2");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "openai-community/gpt2"));
    cr_assert_not_null(strstr(printed.out, "  state       opens\n"));
    cr_assert_not_null(strstr(printed.out, "  parameters  124439808"));
    cr_assert_not_null(strstr(printed.out, "\"n_layer\": 12"));
    printed_release(&printed);
}

Test(command_models, json_has_the_sizes_of_the_graph)
{
    struct printed printed = PRINTED(command_models_main, "--json", "openai-community/gpt2");
    json_t *first = first_of(&printed);
    const json_t *bytes = json_object_get(first, "bytes");

    cr_assert_eq(json_integer_value(json_object_get(first, "parameters")), 124439808);
    cr_assert_eq(json_integer_value(json_object_get(bytes, "bf16")), 2 * 124439808);
    cr_assert_lt(json_integer_value(json_object_get(bytes, "q4_0")),
                 json_integer_value(json_object_get(bytes, "q8_0")));
    cr_assert_str_eq(json_string_value(json_object_get(first, "architecture")), "gpt2");
    json_decref(first);
}

Test(command_models, what_fits_says_in_which_form)
{
    struct printed printed = PRINTED(command_models_main, "--type", "gpt2", "--fits", "0.5G");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "gpt2 "));
    cr_assert_not_null(strstr(printed.out, " bf16  "));
    printed_release(&printed);
    printed = PRINTED(command_models_main, "--type", "gpt2", "--fits", "1000");
    cr_assert_eq(printed.outcome, OUTCOME_OK);
    cr_assert_null(strstr(printed.out, "gpt2 "));
    printed_release(&printed);
}

Test(command_models, a_refusal_names_its_key)
{
    struct printed printed = PRINTED(command_models_main, "gte-qwen2-7b-instruct");

    cr_assert_eq(printed.outcome, OUTCOME_OK);
    cr_assert_not_null(strstr(printed.out, "refused: is_causal: "));
    cr_assert_not_null(strstr(printed.out, "'/is_causal': expected true, found 'false'"));
    cr_assert_not_null(strstr(printed.out, "  parameters  -"));
    printed_release(&printed);
}

Test(command_models, wrong_words_are_refused)
{
    expect_refused(PRINTED(command_models_main, "gpt3"), "did you mean 'gpt2'?");
    expect_refused(PRINTED(command_models_main, "gpt2", "gpt2"), "expected one name at most");
    expect_refused(PRINTED(command_models_main, "--type", "nonsense"),
                   "no published model has the type 'nonsense'");
    expect_refused(PRINTED(command_models_main, "--fits", "8X"), "--fits is '8X', expected a size");
    expect_refused(PRINTED(command_models_main, "--fits", "G"), "expected a size");
    expect_refused(PRINTED(command_models_main, "--fits", "-1G"), "expected a size");
    expect_refused(PRINTED(command_models_main, "--fits", "1e300T"), "expected 1 to 2^63 bytes");
    expect_refused(PRINTED(command_models_main, "--fits", "nan"), "expected a size");
}
