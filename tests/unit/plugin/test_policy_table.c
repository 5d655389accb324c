// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/policy_table.h"

#include <criterion/criterion.h>
#include <stddef.h>

static tapml_status order(tapml_object *policy,
                          tapml_call *call,
                          const tapml_policy_kind *const *kinds,
                          uint32_t n_kinds,
                          uint32_t *io_order)
{
    (void)policy, (void)call, (void)kinds, (void)n_kinds, (void)io_order;
    return TAPML_OK;
}

static tapml_status trigger(tapml_object *policy,
                            tapml_call *call,
                            const tapml_policy_look *look,
                            tapml_policy_answer *out_answer)
{
    (void)policy, (void)call, (void)look, (void)out_answer;
    return TAPML_OK;
}

Test(policy_table, a_function_is_there_or_not)
{
    const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .order = order, .trigger = trigger};

    cr_expect(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_ORDER));
    cr_expect(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_TRIGGER));
    cr_expect_not(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_SELECT));
    cr_expect_not(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_ORDER_CASES));
    cr_expect_not(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_BUILD));
    cr_expect_not(policy_table_has(NULL, TAPML_KIND_POLICY, POLICY_ORDER));
}

Test(policy_table, the_first_draft_ends_with_the_order)
{
    tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .order = order, .trigger = trigger};

    cr_expect(policy_table_has(&table, TAPML_KIND_POLICY_DRAFT1, POLICY_ORDER));
    cr_expect_not(policy_table_has(&table, TAPML_KIND_POLICY_DRAFT1, POLICY_TRIGGER));
    table.hdr.struct_size = offsetof(tapml_policy, select); // As it was built then.
    cr_expect(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_ORDER));
    cr_expect_not(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_TRIGGER));
    table.hdr.struct_size = offsetof(tapml_policy, build);
    cr_expect(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_TRIGGER));
    cr_expect_not(policy_table_has(&table, TAPML_KIND_POLICY, POLICY_BUILD));
    cr_expect_str_eq(policy_table_function(POLICY_ORDER_CASES), "order_cases");
    cr_expect_str_eq(policy_table_function(POLICY_BUILD), "build");
}
