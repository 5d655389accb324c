// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/target.h"

TestSuite(target, .init = open_store_begin, .fini = open_store_end);

static const struct target_row declared[] = {
    {.name = "z", .backend = "null", .activations = "f16", .faults = "", .goal = "* -> z\n"},
    {.name = "a",
     .backend = "cpu",
     .activations = "f32",
     .faults = "scale 2",
     .goal = "* -> a\n",
     .needs_all = 1},
};

static const struct target_row described = {.name = "a",
                                            .component = "c",
                                            .device = "d",
                                            .device_name = "a device",
                                            .driver = "1.2",
                                            .plugin = "org.x",
                                            .plugin_version = "3",
                                            .build = "b1",
                                            .identity = "all of it",
                                            .implementations = "all code"};

Test(target, rows_stand_in_the_order_of_the_run)
{
    struct target_row *found = NULL;
    size_t count = 0;
    MUST(target_declare(store, declared, 2));
    MUST(target_list(store, arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].name, "z");
    cr_assert_str_eq(found[0].activations, "f16");
    cr_assert_str_eq(found[0].device, "");
    cr_assert_str_eq(found[1].faults, "scale 2");
    cr_assert_eq(found[1].needs_all, 1);
}

Test(target, what_is_known_of_a_device_outlives_a_declaration)
{
    struct target_row *all = NULL;
    struct target_row found;
    size_t count = 0;
    MUST(target_declare(store, declared, 2));
    MUST(target_give_up(store, "a", "it went away"));
    MUST(target_find(store, "a", arena, &found));
    cr_assert_str_eq(found.given_up, "it went away");
    MUST(target_describe(store, &described));
    MUST(target_declare(store, declared, 1));
    MUST(target_find(store, "a", arena, &found));
    cr_assert_str_eq(found.device_name, "a device");
    cr_assert_str_eq(found.identity, "all of it");
    cr_assert_str_eq(found.implementations, "all code");
    cr_assert_str_eq(found.given_up, "", "a target that is described is there");
    MUST(target_list(store, arena, &all, &count));
    cr_assert_eq(count, 1, "one that is no longer declared is listed");
    cr_assert_eq(target_find(store, "b", arena, &found), TAPML_NOT_FOUND);
}
