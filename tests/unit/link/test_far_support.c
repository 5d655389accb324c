// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "far.h"
#include "harness/schemas.h"
#include "link/far_support.h"

static struct far far;

static void teardown(void)
{
    far_close(&far);
}

TestSuite(far_support, .fini = teardown);

Test(far_support, asks_for_support)
{
    static const int64_t four[] = {4};
    const tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = four};
    const tapml_value args[] = {
        {.kind = TAPML_P_TENSOR_IN, .u.p = &x},
        {.kind = TAPML_P_I64, .u.i = 0},
        {.kind = TAPML_P_TENSOR_OUT, .u.p = &x},
    };
    tapml_support answer;
    far_open(&far, "good:first");
    FAR_MUST(backend_supports(far.backend, schema_of(far_op(&far, "org.example.trouble")), args,
                              &answer));
    cr_assert_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(answer.reason, "it is trouble");
    FAR_MUST(backend_supports(far.backend, schema_of(far_op(&far, "tapml.silu")), args, &answer));
    cr_assert_str_eq(answer.reason, "it has no op 'tapml.silu'");
}
