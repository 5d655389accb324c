// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

Test(model_context, the_first_failure_stays)
{
    struct model_fixture *fixture = model_fixture_open(NULL, "{}");
    struct model_context context = model_fixture_context(fixture);

    cr_assert_eq(context.status, TAPML_OK);
    model_fixture_expect(model_fail(&context, TAPML_INVALID, "first %d", 1), TAPML_INVALID,
                         "first 1");
    model_fixture_expect(model_fail(&context, TAPML_NOT_FOUND, "second"), TAPML_INVALID, "first 1");
    model_note(&context, TAPML_INTERNAL);
    cr_assert_eq(context.status, TAPML_INVALID);
    model_fixture_close(fixture);
}

Test(model_context, counts)
{
    struct model_fixture *fixture =
        model_fixture_open(NULL, "{\"a\": 7, \"zero\": 0, \"null\": null, \"big\": 1e12}");
    struct model_context context = model_fixture_context(fixture);

    cr_assert_eq(model_config_count(&context, "/a", 0, 100), 7);
    cr_assert_eq(model_config_count(&context, "/b", 3, 100), 3);
    cr_assert_eq(model_config_count(&context, "/null", 3, 100), 3);
    cr_assert_eq(context.status, TAPML_OK);
    model_config_count(&context, "/b", 0, 100);
    model_fixture_expect(context.status, TAPML_INVALID, "the config lacks 'b'");
    context.status = TAPML_OK;
    model_config_count(&context, "/zero", 5, 100);
    model_fixture_expect(context.status, TAPML_INVALID, "'zero' is 0, expected 1 to 100");
    context.status = TAPML_OK;
    model_config_count(&context, "/big", 5, 100);
    model_fixture_expect(context.status, TAPML_INVALID, "'big' is 1000000000000");
    model_fixture_close(fixture);
}

// What is wrong is not handed on: an architecture looks at the status at its end, and counts until
// then.
Test(model_context, values_are_0_after_a_failure)
{
    struct model_fixture *fixture = model_fixture_open(
        NULL, "{\"right\": 7, \"big\": 4611686018427387904, \"below\": -3, \"half\": 0.5}");
    struct model_context context = model_fixture_context(fixture);

    cr_expect_eq(model_config_count(&context, "/big", 0, 100), 0);
    cr_expect_eq(model_config_count(&context, "/right", 0, 100), 0, "an earlier failure stays");
    cr_expect_eq(model_config_count(&context, "/none", 5, 100), 0);
    model_fixture_expect(context.status, TAPML_INVALID, "'big' is 4611686018427387904");
    context.status = TAPML_OK;
    cr_expect_eq(model_config_count(&context, "/below", 5, 100), 0);
    context.status = TAPML_OK;
    cr_expect_float_eq(model_config_number(&context, "/below", 0), 0, 0);
    cr_expect_float_eq(model_config_number(&context, "/half", 0), 0, 0);
    cr_expect_float_eq(model_config_between(&context, "/half", 1, 0, 1), 0, 0);
    context.status = TAPML_OK;
    cr_expect_float_eq(model_config_between(&context, "/half", 1, 0.75, 1), 0, 0);
    model_fixture_close(fixture);
}

Test(model_context, numbers)
{
    struct model_fixture *fixture =
        model_fixture_open(NULL, "{\"a\": 0.5, \"inf\": Infinity, \"small\": 1e-40, "
                                 "\"large\": 1e39, \"zero\": 0}");
    struct model_context context = model_fixture_context(fixture);

    cr_assert_float_eq(model_config_number(&context, "/a", 0), 0.5, 0);
    cr_assert_eq(context.status, TAPML_OK);
    model_config_number(&context, "/a", 0.5);
    model_fixture_expect(context.status, TAPML_INVALID, "'a' is 0.5, expected a number above 0.5");
    context.status = TAPML_OK;
    model_config_number(&context, "/inf", 0);
    model_fixture_expect(context.status, TAPML_INVALID, "'inf' is inf");
    context.status = TAPML_OK;
    model_config_number(&context, "/small", 0);
    model_fixture_expect(context.status, TAPML_INVALID,
                         "'small' is 1e-40, expected a number above 0 that f32 holds");
    context.status = TAPML_OK;
    model_config_number(&context, "/large", 0);
    model_fixture_expect(context.status, TAPML_INVALID, "'large' is 1e+39, expected a number");
    context.status = TAPML_OK;
    cr_assert_float_eq(model_config_between(&context, "/a", 0, 0, 0.5), 0.5, 0);
    cr_assert_float_eq(model_config_between(&context, "/none", 7, 0, 7), 7, 0);
    cr_assert_float_eq(model_config_eps(&context, "/none", 1e-6), 1e-6, 0);
    cr_assert_eq(context.status, TAPML_OK);
    model_config_between(&context, "/a", 0, 0.75, 1);
    model_fixture_expect(context.status, TAPML_INVALID,
                         "'a' is 0.5, expected a number from 0.75 to 1");
    context.status = TAPML_OK;
    model_config_eps(&context, "/zero", 1e-6);
    model_fixture_expect(context.status, TAPML_INVALID, "'zero' is 0, expected a number from ");
    context.status = TAPML_OK;
    model_config_number(&context, "/none", 0);
    model_fixture_expect(context.status, TAPML_INVALID, "the config lacks 'none'");
    model_fixture_close(fixture);
}

Test(model_context, names)
{
    struct model_fixture *fixture = model_fixture_open(NULL, "{}");
    struct model_context context = model_fixture_context(fixture);
    char pattern[MODEL_NAME_SIZE + 1];

    cr_assert_str_eq(model_name(&context, "model.layers.{i}.q", 12, ".weight").text,
                     "model.layers.12.q.weight");
    cr_assert_str_eq(model_name(&context, "{i}{i}", 3, "").text, "33");
    cr_assert_str_eq(model_name(&context, "plain", 3, "").text, "plain");
    memset(pattern, 'x', sizeof(pattern) - 2);
    pattern[sizeof(pattern) - 2] = '\0';
    cr_assert_eq(strlen(model_name(&context, pattern, 3, "").text), MODEL_NAME_SIZE - 1);
    cr_assert_eq(context.status, TAPML_OK);
    model_name(&context, pattern, 3, ".weight");
    model_fixture_expect(context.status, TAPML_INVALID, "is too long");
    model_fixture_close(fixture);
}
