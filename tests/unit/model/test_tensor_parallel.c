// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/tensor_parallel.h"

#include <criterion/criterion.h>
#include <string.h>

static struct tensor_parallel plan;

static tapml_status read_text(const char *text)
{
    struct config *config = NULL;
    cr_assert_eq(config_parse("config.json", text, &config), TAPML_OK, "%s", status_message());
    const tapml_status status = tensor_parallel_read(config, &plan);
    config_close(config);
    return status;
}

static void end(void)
{
    tensor_parallel_release(&plan);
}

TestSuite(tensor_parallel, .fini = end);

Test(tensor_parallel, columns_and_rows_become_globs)
{
    cr_assert_eq(read_text("{\"base_model_tp_plan\": {\"layers.*.self_attn.q_proj\": \"colwise\","
                           " \"layers.*.mlp.up_proj\": \"colwise_rep\","
                           " \"layers.*.mlp.down_proj\": \"rowwise\","
                           " \"layers.*.mlp.experts\": \"grouped_gemm\"}}"),
                 TAPML_OK, "%s", status_message());
    cr_expect_str_eq(plan.column.data, "*layers.*.self_attn.q_proj *layers.*.mlp.up_proj");
    cr_expect_str_eq(plan.row.data, "*layers.*.mlp.down_proj");
    cr_expect_str_eq(plan.others.data, "layers.*.mlp.experts (grouped_gemm)");
}

Test(tensor_parallel, a_wrapper_has_it_with_its_text)
{
    cr_assert_eq(read_text("{\"text_config\": {\"base_model_tp_plan\": {\"a\": \"rowwise\"}}}"),
                 TAPML_OK, "%s", status_message());
    cr_expect_str_eq(plan.row.data, "*a");
    cr_expect_eq(plan.column.length, 0u);
}

Test(tensor_parallel, what_is_wrong_is_named)
{
    static const struct {
        const char *text, *said;
        tapml_status status;
    } wrong[] = {
        {"{}", "expected the key 'base_model_tp_plan', found none", TAPML_NOT_FOUND},
        {"{\"base_model_tp_plan\": [1]}", "expected a map", TAPML_INVALID},
        {"{\"base_model_tp_plan\": {\"a\": 1}}", "'a': expected the name", TAPML_INVALID},
        {"{\"base_model_tp_plan\": {\"a b\": \"colwise\"}}", "'a b': expected", TAPML_INVALID},
        {"{\"base_model_tp_plan\": {\"a\": \"gather\"}}", "nothing is 'colwise'", TAPML_INVALID},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(read_text(wrong[i].text), wrong[i].status, "%s", wrong[i].text);
        cr_expect_not_null(strstr(status_message(), wrong[i].said), "%s", status_message());
        tensor_parallel_release(&plan);
    }
    cr_assert_eq(read_text("{\"base_model_tp_plan\": {\"a\": \"rowwise\"}}"), TAPML_OK);
}
