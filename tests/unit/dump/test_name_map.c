// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "dump/name_map.h"
#include "harness/scratch.h"

static tapml_status parse(const char *text, struct name_map *map)
{
    return name_map_parse("names", text, strlen(text), map);
}

Test(name_map, the_first_row_that_matches_names_a_tensor)
{
    struct arena *arena = arena_create();
    struct name_map map = {0};

    cr_assert_eq(parse("# a remark\nnorm-0 first\n norm-* layers.*/norm # another\n", &map),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(map.count, 2u);
    cr_assert_str_eq(name_map_find(&map, arena, "norm-0"), "first");
    cr_assert_str_eq(name_map_find(&map, arena, "norm-7"), "layers.7/norm");
    cr_assert_str_eq(name_map_find(&map, arena, "other"), "other");
    name_map_release(&map);
    arena_destroy(arena);
}

Test(name_map, lines_of_other_forms_are_named)
{
    struct name_map map = {0};

    cr_assert_eq(parse("a b\nc\n", &map), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "names:2: expected two names"));
    cr_assert_eq(parse("a b c\n", &map), TAPML_INVALID);
    cr_assert_eq(parse("a b*\n", &map), TAPML_INVALID);
    cr_assert_eq(name_map_load("/nonexistent", &map), TAPML_NOT_FOUND);
}

static tapml_status sweep(void)
{
    struct name_map map = {0};

    TAPML_TRY(parse("a b\nc* d*\n", &map));
    name_map_release(&map);
    return TAPML_OK;
}

Test(name_map, without_memory_nothing_leaks)
{
    SCRATCH_SWEEP(sweep());
}
