// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/reference.h"

#include <stdlib.h>

static void check(const struct trial *trial, size_t rows, double *expected)
{
    reference_check(trial, rows, expected, 5e-5);
    free(expected);
}

#define SUITE                                   reference_experts
#define CHECK(trial_, rows_, count_, expected_) check(trial_, rows_, expected_)
#include "harness/mixtures.h"

// A number beyond the experts fails the call, and nothing outside is read.
Test(reference_experts, no_such_expert)
{
    static const double numbers[] = {EXPERTS, -1};
    struct plugin *plugin = reference_open("f32", 1);

    for (size_t i = 0; i < 2; i++) {
        const double x = 1, w = 2;
        tapml_call call = {0};
        struct trial trial = {.op = &tapml_linear_experts, .output = TAPML_LINEAR_EXPERTS_Y};

        trial.arguments[TAPML_LINEAR_EXPERTS_X].tensor = trial_heads(TAPML_F32, 1, 1, 1, &x);
        trial.arguments[TAPML_LINEAR_EXPERTS_INDICES].tensor =
            trial_rows(TAPML_I32, 1, 1, &numbers[i]);
        trial.arguments[TAPML_LINEAR_EXPERTS_W].tensor = trial_rows(TAPML_F32, 1, 1, &w);
        trial.arguments[TAPML_LINEAR_EXPERTS_Y].tensor = trial_heads(TAPML_F32, 1, 1, 1, NULL);
        trial_fail(&trial, plugin, TAPML_INVALID, &call);
    }
    reference_close(plugin);
}
