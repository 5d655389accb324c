// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/cases.h"
#include "harness/schemas.h"
#include "verify/derive_use.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

Test(derive_use, elements_that_do_not_meet_need_no_order)
{
    struct cases_silu silu;
    const struct compiled_op *schema = schema_of(&tapml_silu);
    cases_make_silu(&silu, "s", 0);
    cr_expect(derive_use_has(&silu.item, schema, DERIVE_VALUES_SPREAD));
    cr_expect(derive_use_has(&silu.item, schema, DERIVE_VALUES_CRITICAL));
    cr_expect_not(derive_use_has(&silu.item, schema, DERIVE_VALUES_SORTED));
    cr_expect_not(derive_use_has(&silu.item, schema, DERIVE_VALUES_ALTERNATING));
    cr_expect_not(derive_use_has(&silu.item, schema, DERIVE_VALUES_TIES));
    cr_expect(derive_use_has(&silu.item, schema, DERIVE_VALUES_ZERO));
}

Test(derive_use, sums_need_order_and_no_branch)
{
    struct cases_norm norm;
    const struct compiled_op *schema = schema_of(&tapml_rms_norm);
    cases_make_norm(&norm, "n", 0);
    cr_expect(derive_use_has(&norm.item, schema, DERIVE_VALUES_SPREAD));
    cr_expect_not(derive_use_has(&norm.item, schema, DERIVE_VALUES_CRITICAL));
    cr_expect(derive_use_has(&norm.item, schema, DERIVE_VALUES_SORTED));
    cr_expect(derive_use_has(&norm.item, schema, DERIVE_VALUES_ALTERNATING));
}

Test(derive_use, rows_that_are_rounded_need_ties_and_no_magnitude)
{
    struct cases_append append;
    struct cases_rows rows;
    const struct compiled_op *schema = schema_of(&tapml_state_append);
    cases_make_append(&append, "a", 0);
    cases_make_rows(&rows, "a", 0);
    cr_expect_not(derive_use_has(&append.item, schema, DERIVE_VALUES_SPREAD), "it is exact");
    cr_expect_not(derive_use_has(&append.item, schema, DERIVE_VALUES_TIES));
    cr_expect(derive_use_has(&rows.item, schema, DERIVE_VALUES_TIES));
    cr_expect(derive_use_is_rounded_state(&rows.arguments[0]));
    cr_expect_not(derive_use_is_rounded_state(&rows.arguments[1]));
}
