// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_columns.h"
#include "choose/plan_edits.h"
#include "harness/made_ops.h"

#include <math.h>
#include <string.h>

static struct made_ops made;
static struct plan_columns columns;

static tapml_status look(void *user, const uint8_t *places, struct plan_look *io_look)
{
    const struct step_count none = {.places[0] = {.calls = 0}};
    (void)user;
    io_look->bytes[1] = places[2] == 1 ? 100 : 1;
    plan_columns_fill(&columns, places, &none, io_look->columns);
    return TAPML_OK;
}

// Products on the gpu, the rest on the source: products go back, norms are faster elsewhere.
Test(plan_edits, the_largest_changes_are_kept)
{
    struct arena *arena = arena_create();
    struct plan_units units;
    struct plan_pool pool;
    struct plan_model model;
    struct plan_edits edits;
    struct plan_trial *best = NULL;
    uint8_t places[MADE_OPS] = {0};
    made_ops_init(&made);
    MUST(plan_columns_init(&made.question, NULL, arena, &columns));
    MUST(plan_units_find(&made.question, arena, &units));
    MUST(plan_pool_init(&pool,
                        &(struct plan_pool_input){.question = &made.question,
                                                  .width = columns.width,
                                                  .guesses = columns.guesses,
                                                  .memory_bytes = 50,
                                                  .look = look},
                        arena));
    const struct plan_model_input input = {
        .width = columns.width, .guesses = columns.guesses, .spreads = columns.spreads};
    MUST(plan_model_fit(&input, arena, &model));
    for (int i = 1; i < MADE_OPS; i += MADE_KINDS) {
        places[i] = 1;
    }
    MUST(plan_pool_look(&pool, places, "kind", NULL, &best));
    MUST(plan_edits_find(&pool, &units, &model, best, &edits));
    cr_assert_eq(edits.count, PLAN_EDITS);
    cr_expect_str_eq(edits.items[0].unit, "linear");
    cr_expect_eq(edits.items[0].place, 0);
    cr_expect_float_eq(edits.items[0].change, 320e3 / 180e3, 1e-9);
    cr_expect_str_eq(edits.items[1].unit, "rms_norm");
    cr_expect_eq(edits.items[1].place, 2);
    cr_expect_float_eq(edits.items[1].change, -32e3 / 180e3, 1e-9);
    // What is measured takes the place of what is predicted.
    best->value = 100;
    edits.items[0].trial->value = 112;
    plan_edits_settle(&edits, best);
    cr_expect_float_eq(edits.items[0].change, 0.12, 1e-9);
    cr_expect(edits.items[0].is_measured);
    cr_expect_not(edits.items[1].is_measured);
    plan_pool_release(&pool);
    arena_destroy(arena);
}
