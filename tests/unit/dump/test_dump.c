// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "dump/dump.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

Test(dump, the_last_of_a_name_before_a_place_is_found)
{
    struct dump *dump = NULL;

    MUST(dump_create("here", &dump));
    MUST(dump_add(dump, &(struct dump_tensor){.name = "x", .dtype = TAPML_F32}));
    MUST(dump_add(dump, &(struct dump_tensor){.name = "y", .dtype = TAPML_F32}));
    MUST(dump_add(
        dump, &(struct dump_tensor){.name = "x", .dtype = TAPML_F32, .rank = 2, .shape = {3, 4}}));
    cr_assert_eq(dump_find(dump, "x", 2), &dump->tensors[0]);
    cr_assert_eq(dump_find(dump, "x", 3), &dump->tensors[2]);
    cr_assert_eq(dump_find(dump, "y", 0), &dump->tensors[1], "one behind the place");
    cr_assert_null(dump_find(dump, "z", 3));
    cr_assert_eq(dump_count(&dump->tensors[2]), 12);
    cr_assert_eq(dump_count(&dump->tensors[0]), 1);
    dump_destroy(dump);
    dump_destroy(NULL);
}

Test(dump, tensors_that_cannot_be_are_refused)
{
    struct dump *dump = NULL;
    struct dump_tensor vast = {
        .name = "x", .dtype = TAPML_F32, .rank = 2, .shape = {INT64_C(1) << 40, INT64_C(1) << 40}};

    MUST(dump_create("here", &dump));
    cr_assert_eq(dump_add(dump, &vast), TAPML_INVALID);
    vast.shape[0] = 1;
    cr_assert_eq(dump_add(dump, &vast), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "too large"));
    cr_assert_eq(dump_add(dump, &(struct dump_tensor){.name = "", .dtype = TAPML_F32}),
                 TAPML_INVALID);
    cr_assert_eq(dump_add(dump, &(struct dump_tensor){.name = "a\nb", .dtype = TAPML_F32}),
                 TAPML_INVALID);
    char longest[2 * DUMP_NAMES_MAX] = "";

    memset(longest, 'a', sizeof(longest) - 1);
    cr_assert_eq(dump_add(dump, &(struct dump_tensor){.name = longest, .dtype = TAPML_F32}),
                 TAPML_INVALID);
    MUST(dump_keep(dump, alloc_new(3)));
    dump_destroy(dump);
}

Test(dump, numbers_in_names_count)
{
    cr_assert_lt(dump_compare_names("f2_add", "f10_add"), 0);
    cr_assert_gt(dump_compare_names("layer.10", "layer.9"), 0);
    cr_assert_eq(dump_compare_names("a1", "a1"), 0);
    cr_assert_lt(dump_compare_names("a1", "a1b"), 0);
    cr_assert_lt(dump_compare_names("a", "b"), 0);
    cr_assert_neq(dump_compare_names("a01", "a1"), 0);
}
