// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_units.h"
#include "harness/made_ops.h"

#include <string.h>

static struct made_ops made;
static struct arena *arena;
static struct plan_units units;

static void begin(void)
{
    made_ops_init(&made);
    arena = arena_create();
    MUST(plan_units_find(&made.question, arena, &units));
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(plan_units, .init = begin, .fini = end);

static const struct plan_unit *find(const char *name)
{
    for (size_t i = 0; i < units.count; i++) {
        if (strcmp(units.items[i].name, name) == 0) {
            return &units.items[i];
        }
    }
    return NULL;
}

static void expect(const char *name, uint32_t count, uint32_t first)
{
    const struct plan_unit *unit = find(name);
    cr_assert_not_null(unit, "%s", name);
    cr_expect_eq(unit->count, count, "%s", name);
    cr_expect_eq(unit->ops[0], first, "%s", name);
}

Test(plan_units, there_are_kinds_parts_layers_and_operators)
{
    expect("linear", MADE_LAYERS, 1);
    cr_expect(find("linear")->is_kind);
    expect("attn", 8, 0);
    expect("mlp", 8, 2);
    expect("layers.2", 4, 8);
    expect("layers.0 to layers.1", 8, 0);
    expect("layers.2 to layers.3", 8, 8);
    expect("layers.3/mlp", 2, 14);
    expect("layers.3/mlp/sum", 1, 15);
    cr_expect_eq(units.count, 4 + 2 + 2 + 4 + 8 + 16);
    cr_expect(units.items[0].is_kind);
    cr_expect_not(find("attn")->is_kind);
}

Test(plan_units, what_may_not_run_stays)
{
    uint8_t places[MADE_OPS] = {0};
    cr_expect_eq(plan_units_move(&made.question, find("layers.0"), 2, places), 3u);
    cr_expect_eq(places[2], 2);
    cr_expect_eq(places[3], 0);
    cr_expect_eq(plan_units_move(&made.question, find("layers.0"), 2, places), 0u);
    cr_expect_eq(plan_units_move(&made.question, find("layers.0"), 0, places), 3u);
}
