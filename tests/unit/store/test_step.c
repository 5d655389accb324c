// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/step.h"
#include "store/store.h"
#include "store/store_open.h"

#include <math.h>

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

static void begin(void)
{
    scratch_make(&scratch);
    cr_assert_eq(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store), TAPML_OK);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(step, .init = begin, .fini = end);

static struct step_row row(const char *target, const char *step, const char *verdict)
{
    return (struct step_row){.target = target,
                             .step = step,
                             .verdict = verdict,
                             .reason = "",
                             .plan = "* -> source\n",
                             .margin = 0.25,
                             .time_ns = 17};
}

Test(step, last_row_of_a_step_is_found)
{
    struct step_row first = row("gpu", "move linear", "reverted");
    struct step_row second = row("gpu", "move linear", "kept");
    struct step_row found;
    second.reason = "it's right";
    cr_assert_eq(step_add(store, &first), TAPML_OK);
    cr_assert_eq(step_add(store, &second), TAPML_OK);
    cr_assert_eq(step_find(store, "gpu", "move linear", arena, &found), TAPML_OK);
    cr_assert_str_eq(found.verdict, "kept");
    cr_assert_str_eq(found.reason, "it's right");
    cr_assert_str_eq(found.plan, "* -> source\n");
    cr_assert_str_eq(found.target, "gpu");
    cr_assert_str_eq(found.step, "move linear");
    cr_assert_eq(found.margin, 0.25);
    cr_assert_eq(found.time_ns, 17);
    cr_assert_eq(found.id, 2);
}

Test(step, targets_and_steps_are_apart)
{
    struct step_row one = row("gpu", "replay", "kept");
    struct step_row found;
    cr_assert_eq(step_add(store, &one), TAPML_OK);
    cr_assert_eq(step_find(store, "other", "replay", arena, &found), TAPML_NOT_FOUND);
    cr_assert_eq(step_find(store, "gpu", "final", arena, &found), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "'final'"), "%s", status_message());
}

Test(step, no_margin_stays_none)
{
    struct step_row one = row("gpu", "replay", "kept");
    struct step_row found;
    one.margin = NAN;
    cr_assert_eq(step_add(store, &one), TAPML_OK);
    cr_assert_eq(step_find(store, "gpu", "replay", arena, &found), TAPML_OK);
    cr_assert(isnan(found.margin));
}

Test(step, is_there_after_a_restart)
{
    struct step_row one = row("gpu", "final", "agrees");
    struct step_row found;
    cr_assert_eq(step_add(store, &one), TAPML_OK);
    store_close(store);
    cr_assert_eq(store_open(scratch_path(&scratch, "a.tapmlrun"), 0, &store), TAPML_OK);
    cr_assert_eq(step_find(store, "gpu", "final", arena, &found), TAPML_OK);
    cr_assert_str_eq(found.verdict, "agrees");
}

Test(step, a_target_is_forgotten_alone)
{
    struct step_row one = row("gpu", "replay", "kept");
    struct step_row other = row("npu", "replay", "kept");
    struct step_row found;
    cr_assert_eq(step_add(store, &one), TAPML_OK);
    cr_assert_eq(step_add(store, &other), TAPML_OK);
    cr_assert_eq(step_forget(store, "gpu"), TAPML_OK);
    cr_assert_eq(step_find(store, "gpu", "replay", arena, &found), TAPML_NOT_FOUND);
    cr_assert_eq(step_find(store, "npu", "replay", arena, &found), TAPML_OK);
}
