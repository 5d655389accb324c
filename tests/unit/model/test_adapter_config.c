// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "model/adapter_config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEEDED "\"peft_type\": \"LORA\", \"r\": 4, \"lora_alpha\": 6"

static tapml_status open_text(const char *text, struct adapter_config **out_config)
{
    struct scratch scratch;
    scratch_make(&scratch);
    scratch_text(&scratch, "adapter_config.json", text);
    const tapml_status status = adapter_config_open(scratch.folder, out_config);
    scratch_remove(&scratch);
    return status;
}

static struct adapter_config *opened(const char *text)
{
    struct adapter_config *config = NULL;
    cr_assert_eq(open_text(text, &config), TAPML_OK, "%s", status_message());
    return config;
}

static struct adapter_scale scale_of(struct adapter_config *config, const char *module)
{
    struct adapter_scale scale = {0, 0};
    cr_assert_eq(adapter_config_find(config, module, &scale), TAPML_OK, "%s", status_message());
    return scale;
}

Test(adapter_config, rank_and_factor_are_those_of_the_first_key_that_matches)
{
    struct adapter_config *config =
        opened("{" NEEDED ", \"target_modules\": [\"q_proj\", \"v_proj\"],"
               "\"rank_pattern\": {\"layers.1.q_proj\": 8, \"q_proj\": 2},"
               "\"alpha_pattern\": {\"layers\\\\.[12]\\\\..*\": 3}}");
    struct adapter_scale scale = scale_of(config, "model.layers.1.q_proj");
    cr_assert_eq(scale.rank, 8);
    cr_assert_eq(scale.factor, 3.0 / 8);
    scale = scale_of(config, "model.layers.0.q_proj");
    cr_assert_eq(scale.rank, 2);
    cr_assert_eq(scale.factor, 6.0 / 2);
    cr_assert_eq(scale_of(config, "model.layers.11.q_proj").rank, 2);
    scale = scale_of(config, "v_proj");
    cr_assert_eq(scale.rank, 4);
    cr_assert_eq(scale.factor, 6.0 / 4);
    adapter_config_close(config);
}

Test(adapter_config, a_stabilised_rank_counts_by_its_root)
{
    struct adapter_config *config = opened("{" NEEDED ", \"use_rslora\": true}");
    cr_assert_eq(scale_of(config, "m").factor, 6.0 / sqrt(4));
    adapter_config_close(config);
}

Test(adapter_config, a_module_that_is_no_target_is_refused)
{
    static const struct {
        const char *modules, *refused;
    } cases[] = {
        {"\"target_modules\": [\"q_proj\"]", "layers.0.xq_proj"},
        {"\"target_modules\": [\"q_proj\"]", "q_proj.0"},
        {"\"target_modules\": \".*q_proj\"", "layers.q_proj.0"},
        {"\"target_modules\": \"q|q_proj\"", "x.q_proj"},
        {"\"target_modules\": \"all-linear\", \"exclude_modules\": [\"q_proj\"]", "0.q_proj"},
        {"\"target_modules\": [\"q_proj\"], \"exclude_modules\": \"layers\\\\.0.*\"",
         "layers.0.q_proj"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char text[512];
        struct adapter_scale scale;
        snprintf(text, sizeof(text), "{" NEEDED ", %s}", cases[i].modules);
        struct adapter_config *config = opened(text);
        cr_assert_eq(adapter_config_find(config, cases[i].refused, &scale), TAPML_INVALID);
        cr_assert_not_null(strstr(status_message(), cases[i].refused), "%s", status_message());
        adapter_config_close(config);
    }
}

Test(adapter_config, targets_without_a_module_are_told)
{
    struct adapter_config *config =
        opened("{" NEEDED ", \"target_modules\": [\"a\", \"b\", \"c\"]}");
    (void)scale_of(config, "x.b");
    cr_assert_str_eq(adapter_config_unused(config, 0), "a");
    cr_assert_str_eq(adapter_config_unused(config, 1), "c");
    cr_assert_null(adapter_config_unused(config, 2));
    adapter_config_close(config);
}

Test(adapter_config, what_is_not_supported_or_no_config_is_refused)
{
    static const struct {
        const char *text, *piece;
    } cases[] = {
        {"[]", "expected an object"},
        {"{}", "expected LORA as 'peft_type', found none"},
        {"{\"peft_type\": \"IA3\"}", "'peft_type', found '\"IA3\"'"},
        {"{\"peft_type\": \"LORA\", \"lora_alpha\": 1}", "'r', found none"},
        {"{\"peft_type\": \"LORA\", \"r\": 0, \"lora_alpha\": 1}", "'r', found '0'"},
        {"{\"peft_type\": \"LORA\", \"r\": 1.5, \"lora_alpha\": 1}", "'r', found '1.5'"},
        {"{\"peft_type\": \"LORA\", \"r\": 1, \"lora_alpha\": \"x\"}",
         "'lora_alpha', found '\"x\"'"},
        {"{" NEEDED ", \"use_dora\": true}", "'use_dora', found 'true'"},
        {"{" NEEDED ", \"bias\": \"lora_only\"}", "'bias', found '\"lora_only\"'"},
        {"{" NEEDED ", \"init_lora_weights\": \"olora\"}",
         "'init_lora_weights', found '\"olora\"'"},
        {"{" NEEDED ", \"modules_to_save\": [\"x\"]}", "'modules_to_save', found"},
        {"{" NEEDED ", \"no_such_key\": 0}", "'no_such_key', found '0'"},
        {"{" NEEDED ", \"use_rslora\": 1}", "'use_rslora', found '1'"},
        {"{" NEEDED ", \"target_modules\": 3}", "'target_modules', found '3'"},
        {"{" NEEDED ", \"target_modules\": [3]}", "'target_modules', found"},
        {"{" NEEDED ", \"target_modules\": \"(\"}", "missing"},
        {"{" NEEDED ", \"rank_pattern\": []}", "'rank_pattern', found"},
        {"{" NEEDED ", \"rank_pattern\": {\"x\": 0.5}}", "'rank_pattern', found"},
        {"{" NEEDED ", \"alpha_pattern\": {\"x\": \"y\"}}", "'alpha_pattern', found"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct adapter_config *config = NULL;
        const tapml_status status = open_text(cases[i].text, &config);
        cr_assert(status == TAPML_INVALID || status == TAPML_UNIMPLEMENTED, "%zu: %d", i, status);
        cr_assert_not_null(strstr(status_message(), cases[i].piece), "%zu: %s", i,
                           status_message());
    }
}

Test(adapter_config, what_says_nothing_is_passed_over)
{
    adapter_config_close(opened("{" NEEDED ", \"a\": null, \"b\": false, \"c\": [], \"d\": {},"
                                "\"lora_dropout\": 0.1, \"init_lora_weights\": \"gaussian\"}"));
}

Test(adapter_config, expressions_are_few)
{
    char text[2048] = "{" NEEDED ", \"alpha_pattern\": {";
    for (int i = 0; i < 17; ++i) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\"x%d.*\": 1",
                 i > 0 ? ", " : "", i);
    }
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "}}");
    struct adapter_config *config = NULL;
    cr_assert_eq(open_text(text, &config), TAPML_UNIMPLEMENTED);
    cr_assert_not_null(strstr(status_message(), "at most 16 expressions"));
}

Test(adapter_config, memory_may_end_anywhere)
{
    struct scratch scratch;
    struct adapter_config *config = NULL;
    scratch_make(&scratch);
    scratch_text(&scratch, "adapter_config.json",
                 "{" NEEDED ", \"target_modules\": \"a.*\", \"rank_pattern\": {\"x+\": 1}}");
    SCRATCH_SWEEP(adapter_config_open(scratch.folder, &config));
    adapter_config_close(config);
    scratch_remove(&scratch);
}
