// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "schema/expression_compiler.h"

#include <criterion/criterion.h>
#include <string.h>

Test(expression_compiler, what_is_well_formed)
{
    static const char *const good[] = {"T, hq, dk",
                                       "*rows, width",
                                       "transposed ? in, out : out, in",
                                       "position .. position + T",
                                       "0 .. position + T",
                                       "2 * T * hq * (position + T) * (dk + dv)",
                                       "a ? b ? 1 : 2 : 3",
                                       "rows / 2",
                                       "-1 .. -(T - 1)",
                                       "2 - -x",
                                       "0"};
    static const char *const bad[] = {"",
                                      "T,",
                                      "T, , x",
                                      "2 +",
                                      "(T",
                                      "T)",
                                      "*",
                                      "*rows, *cols",
                                      "*2",
                                      "a ? b",
                                      "a : b",
                                      "a ? b : c : d",
                                      "a + 1 ? b : c",
                                      "T .. ",
                                      "1 .. 2 .. 3",
                                      "T x",
                                      "x;y",
                                      "--x",
                                      "99999999999999999999",
                                      "((((((((((((((((((((1))))))))))))))))))))"};

    struct expression_names names = {.count = 0};
    struct arena *arena = arena_create();
    const struct expression *ignored = NULL;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        cr_assert_eq(expression_compiler_run(good[i], &names, arena, &ignored), TAPML_OK,
                     "'%s': %s", good[i], status_message());
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        cr_assert_eq(expression_compiler_run(bad[i], &names, arena, &ignored), TAPML_INVALID,
                     "'%s' passes", bad[i]);
    }
    arena_destroy(arena);
}

Test(expression_compiler, names_are_shared_by_the_texts_of_an_op)
{
    struct expression_names names = {.count = 0};
    struct arena *arena = arena_create();
    const struct expression *first = NULL, *second = NULL;

    cr_assert_eq(expression_compiler_run("T, width", &names, arena, &first), TAPML_OK);
    cr_assert_eq(expression_compiler_run("width .. width + T", &names, arena, &second), TAPML_OK);
    cr_assert_eq(names.count, 2u);
    cr_assert_str_eq(names.names[0], "T");
    cr_assert(expression_is_range(second));
    cr_assert_not(expression_is_range(first));
    cr_assert_eq(expression_compiler_run("T +", &names, arena, &first), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "in 'T +'"), "%s", status_message());
    arena_destroy(arena);
}
