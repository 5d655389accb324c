// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "config/run_config.h"
#include "run_ini.h"

Test(run_config, the_goal_is_everything_or_the_plan)
{
    struct run_config config;
    struct plan *plan = NULL;
    struct text text;

    text_init(&text);
    cr_assert_eq(load(WHOLE, &config), TAPML_OK);
    cr_assert_eq(run_config_goal(&config, "gpu", &plan), TAPML_OK);
    plan_print(plan, &text);
    cr_assert_str_eq(text.data, "* -> gpu\n");
    plan_destroy(plan);
    run_config_release(&config);

    text_clear(&text);
    cr_assert_eq(load(WHOLE "[target.npu]\nbackend = y\n[plan]\nrule = * -> npu\n"
                            "rule = op=silu -> gpu\n",
                      &config),
                 TAPML_OK);
    cr_assert_eq(run_config_goal(&config, "gpu", &plan), TAPML_OK);
    plan_print(plan, &text);
    cr_assert_str_eq(text.data, "* -> source\nop=silu -> gpu\n");
    plan_destroy(plan);
    run_config_release(&config);
    text_release(&text);
    cr_assert_eq(load(WHOLE "[plan]\nrule = * -> npu\n", &config), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected 'source' or the name of a target behind "
                                                "'->', found 'npu', did you mean 'gpu'?"));
}

Test(run_config, targets_are_found_by_name_or_nearly)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE, &config), TAPML_OK);
    cr_assert(run_config_has_target(&config, "gpu"));
    cr_assert_not(run_config_has_target(&config, "gpv"));
    cr_assert_str_eq(run_config_nearest_target(&config, "gpv"), "gpu");
    cr_assert_str_eq(run_config_nearest_target(&config, "sourc"), "source");
    cr_assert_null(run_config_nearest_target(&config, "something"));
    run_config_release(&config);
}

Test(run_config, the_encoding_is_found_when_plugins_are_known)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE, &config), TAPML_OK);
    cr_assert_eq(run_config_find_encoding(&config), TAPML_OK);
    cr_assert_null(run_config_model(&config).encoding, "as stored");
    run_config_release(&config);
    cr_assert_eq(load(WHOLE "[model]\nweights = q4_0\n", &config), TAPML_OK);
    cr_assert_eq(run_config_find_encoding(&config), TAPML_OK);
    cr_assert_str_eq(run_config_model(&config).encoding->id, TAPML_ENCODING_Q4);
    run_config_release(&config);
    cr_assert_eq(load(WHOLE "[model]\nweights = q4_9\n", &config), TAPML_OK,
                 "it may be a plugin's");
    cr_assert_eq(run_config_find_encoding(&config), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), ": [model] weights: expected stored, q8_0"), "%s",
                       status_message());
    cr_assert_not_null(strstr(status_message(), "found 'q4_9', did you mean 'q4_0'?"));
    run_config_release(&config);
}
