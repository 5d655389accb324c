// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/reference.h"

#include <stdlib.h>

static void check(const struct op_fixture *fixture, size_t rows, double *expected)
{
    reference_check(fixture, rows, expected, 5e-5);
    free(expected);
}

#define SUITE                                        reference_experts
#define CHECK(op_fixture_, rows_, count_, expected_) check(op_fixture_, rows_, expected_)
#include "harness/mixtures.h"

// A number beyond the experts fails the call, and nothing outside is read.
Test(reference_experts, no_such_expert)
{
    static const double numbers[] = {EXPERTS, -1};
    struct plugin *plugin = reference_open("f32", 1);

    for (size_t i = 0; i < 2; i++) {
        const double x = 1, w = 2;
        tapml_call call = {0};
        struct op_fixture fixture = {.op = &tapml_linear_experts, .output = TAPML_LINEAR_EXPERTS_Y};

        fixture.arguments[TAPML_LINEAR_EXPERTS_X].tensor = op_fixture_heads(TAPML_F32, 1, 1, 1, &x);
        fixture.arguments[TAPML_LINEAR_EXPERTS_INDICES].tensor =
            op_fixture_rows(TAPML_I32, 1, 1, &numbers[i]);
        fixture.arguments[TAPML_LINEAR_EXPERTS_W].tensor = op_fixture_rows(TAPML_F32, 1, 1, &w);
        fixture.arguments[TAPML_LINEAR_EXPERTS_Y].tensor =
            op_fixture_heads(TAPML_F32, 1, 1, 1, NULL);
        op_fixture_fail(&fixture, plugin, TAPML_INVALID, &call);
    }
    reference_close(plugin);
}
