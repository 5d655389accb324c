// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "tricky_backend.h"
#include "verify/conduct_trial.h"

#include <criterion/criterion.h>

static struct examiner *examiner;
static struct verdict_options options;

static void begin(void)
{
    tricky_begin();
    options = options_for(exact);
    MUST(examiner_create(&options, &examiner));
}

static void end(void)
{
    examiner_destroy(examiner);
    tricky_end();
}

TestSuite(conduct_trial, .init = begin, .fini = end, .timeout = 60);

static struct verdict run_trial(const struct conduct_trial *trial, struct replay_result *result)
{
    struct verdict verdict;
    struct arena *arena = arena_create();
    MUST(conduct_trial_run(examiner, trial, arena, &verdict, result));
    arena_destroy(arena);
    return verdict;
}

Test(conduct_trial, a_kept_case_is_made_again)
{
    const struct verdict kept = {.case_id = 2};
    struct conduct_trial trial;
    struct replay_result result;
    MUST(conduct_trial_make(store, examiner, &kept, &trial));
    cr_expect_str_eq(trial.item.instance, "layers.1/silu");
    cr_expect_eq(trial.bytes, 2 * 6 * sizeof(float));
    cr_expect_eq(trial.output_bytes, 6 * sizeof(float));
    cr_expect_eq(run_trial(&trial, &result).kind, VERDICT_PASS);
    conduct_trial_release(&trial);
}

Test(conduct_trial, a_derived_one_has_what_is_expected_of_it)
{
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    struct verdict verdict = {.case_id = 1};
    struct conduct_trial kept, trial;
    struct replay_result result;
    uint32_t count = 0;
    MUST(conduct_trial_make(store, examiner, &verdict, &kept));
    MUST(derive_list(&kept.item, kept.schema, recipes, &count));
    verdict.recipe = &recipes[count - 1];
    MUST(conduct_trial_make(store, examiner, &verdict, &trial));
    cr_expect_eq(trial.item.is_derived, 1);
    cr_expect_eq(run_trial(&trial, &result).kind, VERDICT_PASS);
    conduct_trial_release(&kept);
    conduct_trial_release(&trial);
}

Test(conduct_trial, a_varied_one_has_the_shape_and_other_numbers)
{
    const struct verdict kept = {.case_id = 1};
    struct conduct_trial trial, other;
    struct replay_result result;
    MUST(conduct_trial_make(store, examiner, &kept, &trial));
    MUST(conduct_trial_vary(examiner, &trial, &other));
    cr_expect_eq(other.bytes, trial.bytes);
    cr_expect_neq(memcmp(other.item.arguments[0].before, trial.item.arguments[0].before,
                         trial.item.arguments[0].content_bytes),
                  0);
    cr_expect_eq(run_trial(&other, &result).kind, VERDICT_PASS);
    conduct_trial_release(&trial);
    conduct_trial_release(&other);
}

Test(conduct_trial, a_case_that_is_not_there_is_said)
{
    const struct verdict kept = {.case_id = 99};
    struct conduct_trial trial;
    cr_expect_eq(conduct_trial_make(store, examiner, &kept, &trial), TAPML_NOT_FOUND);
    conduct_trial_release(&trial);
}

Test(conduct_trial, wrong_outputs_are_described)
{
    const struct verdict kept = {.case_id = 1};
    const float zeros[6] = {0}, twos[6] = {2, 2, 2, 2, 2, 2}, mixed[6] = {1, 2};
    struct conduct_trial trial;
    struct replay_result result;
    char text[64];
    MUST(conduct_trial_make(store, examiner, &kept, &trial));
    (void)run_trial(&trial, &result);
    result.outputs[0].computed = zeros;
    conduct_trial_describe(&trial, &result, text, sizeof(text));
    cr_expect_str_eq(text, "every element of 'y' is 0");
    result.outputs[0].computed = twos;
    conduct_trial_describe(&trial, &result, text, sizeof(text));
    cr_expect_str_eq(text, "all elements of 'y' are the same number");
    result.outputs[0].computed = trial.item.arguments[0].before;
    conduct_trial_describe(&trial, &result, text, sizeof(text));
    cr_expect_str_eq(text, "'y' is a copy of 'x'");
    result.outputs[0].computed = mixed;
    conduct_trial_describe(&trial, &result, text, sizeof(text));
    cr_expect_str_eq(text, "");
    conduct_trial_release(&trial);
}
