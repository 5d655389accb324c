// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Cases without contents, whose features a seed draws.
#pragma once

#include "base/random.h"
#include "store/feature.h"

#include <criterion/criterion.h>
#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static inline void made_cases(struct feature_case *cases, size_t count)
{
    static const char *const signatures[] = {"a/1", "b/1", "c/1"};
    struct random random;
    random_init(&random, 11);
    for (size_t i = 0; i < count; i++) {
        cases[i] = (struct feature_case){
            .id = (int64_t)i + 1, .op = "a", .instance = "i", .phase = "decode"};
        cases[i].row.signature = signatures[i % 3];
        for (size_t column = 0; column < FEATURE_COUNT; column++) {
            cases[i].row.values[column] = NAN;
        }
        cases[i].row.values[FEATURE_rows] = (double)(1 + random_below(&random, 32));
        cases[i].row.values[FEATURE_operations] = pow(2, random_between(&random, 8, 20));
        cases[i].row.values[FEATURE_largest] = random_between(&random, 0.5, 2);
        cases[i].row.values[FEATURE_contiguous] = 1;
    }
}
