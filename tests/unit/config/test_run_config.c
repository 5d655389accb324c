// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "config/run_config.h"
#include "config/run_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD   "[run]\ndir = d\nprompts = p.txt\n"
#define MODEL  "[model]\npath = m\n"
#define SOURCE "[source]\nbackend = a:b\n"
#define WHOLE  HEAD MODEL SOURCE "[target.gpu]\nbackend = x\n"

static tapml_status load(const char *text, struct run_config *config)
{
    char path[] = "/tmp/tapml-run-file-XXXXXX";
    const int descriptor = mkstemp(path);

    cr_assert_geq(descriptor, 0);
    cr_assert_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(descriptor);
    const tapml_status status = run_file_load(path, config);

    (void)unlink(path);
    return status;
}

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
