// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "verify/basis.h"

#include <criterion/criterion.h>

Test(basis, it_is_another_where_anything_is)
{
    struct result_maker maker = {"code", "device", "driver", "options", "oracle"};
    struct representative_group group = {.op = "tapml.silu", .keys = "ab"};
    struct arena *arena = arena_create();
    const char *digests[7];
    cr_assert_eq(basis_make(&maker, &group, "seed 1", arena, &digests[0]), TAPML_OK);
    cr_assert_eq(basis_make(&maker, &group, "seed 2", arena, &digests[1]), TAPML_OK);
    group.keys = "ac";
    cr_assert_eq(basis_make(&maker, &group, "seed 1", arena, &digests[2]), TAPML_OK);
    maker.driver = "another";
    cr_assert_eq(basis_make(&maker, &group, "seed 1", arena, &digests[3]), TAPML_OK);
    maker.oracle = "another";
    cr_assert_eq(basis_make(&maker, &group, "seed 1", arena, &digests[4]), TAPML_OK);
    maker.implementation = "another";
    cr_assert_eq(basis_make(&maker, &group, "seed 1", arena, &digests[5]), TAPML_OK);
    cr_assert_eq(basis_make(&maker, &group, "seed 1", arena, &digests[6]), TAPML_OK);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) {
            cr_expect_str_neq(digests[i], digests[k]);
        }
    }
    cr_expect_str_eq(digests[5], digests[6]);
    arena_destroy(arena);
}
