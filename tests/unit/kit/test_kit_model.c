// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/scratch.h"
#include "kit/kit_model.h"
#include "kit/kit_subject.h"

static struct scratch scratch;
static struct kit_subject subject;
static struct kit_result result;
static struct kit_model model;

static void setup(void)
{
    scratch_make(&scratch);
    cr_assert_eq(kit_subject_read(scratch_join("TAPML_TEST_BUILD", "plugins/models/tapml-llama.so"),
                                  &subject),
                 TAPML_OK, "%s", status_message());
    subject.component = "llama";
}

static void teardown(void)
{
    kit_model_close(&model);
    kit_subject_release(&subject);
    scratch_remove(&scratch);
}

TestSuite(kit_model, .init = setup, .fini = teardown, .timeout = 60);

static void open_with(const char *folder)
{
    subject.model = folder;
    cr_assert(kit_model_open(&subject, &result, &model), "%s", result.reason);
}

Test(kit_model, a_model_of_the_user_is_built_without_and_with_weights_of_zeros)
{
    struct model *plain = NULL, *whole = NULL;
    uint32_t score = 0;

    open_with(scratch_join("TAPML_TEST_DATA", "models/llama"));
    cr_assert_eq(kit_model_match(&model, model.config, &score), TAPML_OK);
    cr_expect_eq(score, 100u);
    cr_assert_eq(kit_model_build(&model, model.config, NULL, &plain), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(kit_model_write(&model, model_graph(plain),
                                 &(struct kit_model_change){.lacks = NULL}, scratch.folder),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(kit_model_build(&model, NULL, scratch.folder, &whole), TAPML_OK, "%s",
                 status_message());
    cr_expect_eq(model_graph(whole)->op_count, model_graph(plain)->op_count);
    model_close(whole);
    cr_assert_eq(kit_model_write(&model, model_graph(plain),
                                 &(struct kit_model_change){.lacks = "model.norm.weight"},
                                 scratch.folder),
                 TAPML_OK);
    cr_expect_neq(kit_model_build(&model, NULL, scratch.folder, &whole), TAPML_OK);
    cr_expect_not_null(strstr(status_message(), "model.norm.weight"), "%s", status_message());
    model_close(plain);
}

Test(kit_model, a_model_that_is_not_there_is_a_failure)
{
    subject.model = "/nowhere/at/all";
    cr_expect_not(kit_model_open(&subject, &result, &model));
    cr_expect_eq(result.outcome, KIT_FAILED);
}

Test(kit_model, one_that_is_not_its_own_has_no_score)
{
    uint32_t score = 9;

    open_with(scratch_join("TAPML_TEST_DATA", "models/llama"));
    cr_assert_eq(kit_model_match(&model, "{\"model_type\": \"nobody\"}", &score), TAPML_OK);
    cr_expect_eq(score, 0u);
    cr_expect_eq(kit_model_match(&model, "no json", &score), TAPML_INVALID);
}
