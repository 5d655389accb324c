// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/ledger.h"

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

TestSuite(ledger, .init = begin, .fini = end);

static struct ledger_row row(const char *target, const char *step, const char *verdict)
{
    return (struct ledger_row){.target = target,
                               .step = step,
                               .verdict = verdict,
                               .reason = "",
                               .plan = "* -> source\n",
                               .margin = 0.25,
                               .time_ns = 17};
}

Test(ledger, last_row_of_a_step_is_found)
{
    struct ledger_row first = row("gpu", "move linear", "taken back");
    struct ledger_row second = row("gpu", "move linear", "kept");
    struct ledger_row found;
    second.reason = "it's right";
    cr_assert_eq(ledger_add(store, &first), TAPML_OK);
    cr_assert_eq(ledger_add(store, &second), TAPML_OK);
    cr_assert_eq(ledger_find(store, "gpu", "move linear", arena, &found), TAPML_OK);
    cr_assert_str_eq(found.verdict, "kept");
    cr_assert_str_eq(found.reason, "it's right");
    cr_assert_str_eq(found.plan, "* -> source\n");
    cr_assert_str_eq(found.target, "gpu");
    cr_assert_str_eq(found.step, "move linear");
    cr_assert_eq(found.margin, 0.25);
    cr_assert_eq(found.time_ns, 17);
    cr_assert_eq(found.id, 2);
}

Test(ledger, targets_and_steps_are_apart)
{
    struct ledger_row one = row("gpu", "replay", "kept");
    struct ledger_row found;
    cr_assert_eq(ledger_add(store, &one), TAPML_OK);
    cr_assert_eq(ledger_find(store, "other", "replay", arena, &found), TAPML_NOT_FOUND);
    cr_assert_eq(ledger_find(store, "gpu", "final", arena, &found), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "'final'"), "%s", status_message());
}

Test(ledger, no_margin_stays_none)
{
    struct ledger_row one = row("gpu", "replay", "kept");
    struct ledger_row found;
    one.margin = NAN;
    cr_assert_eq(ledger_add(store, &one), TAPML_OK);
    cr_assert_eq(ledger_find(store, "gpu", "replay", arena, &found), TAPML_OK);
    cr_assert(isnan(found.margin));
}

Test(ledger, is_there_after_a_restart)
{
    struct ledger_row one = row("gpu", "final", "agrees");
    struct ledger_row found;
    cr_assert_eq(ledger_add(store, &one), TAPML_OK);
    store_close(store);
    cr_assert_eq(store_open(scratch_path(&scratch, "a.tapmlrun"), 0, &store), TAPML_OK);
    cr_assert_eq(ledger_find(store, "gpu", "final", arena, &found), TAPML_OK);
    cr_assert_str_eq(found.verdict, "agrees");
}

Test(ledger, a_target_is_forgotten_alone)
{
    struct ledger_row one = row("gpu", "replay", "kept");
    struct ledger_row other = row("npu", "replay", "kept");
    struct ledger_row found;
    cr_assert_eq(ledger_add(store, &one), TAPML_OK);
    cr_assert_eq(ledger_add(store, &other), TAPML_OK);
    cr_assert_eq(ledger_forget(store, "gpu"), TAPML_OK);
    cr_assert_eq(ledger_find(store, "gpu", "replay", arena, &found), TAPML_NOT_FOUND);
    cr_assert_eq(ledger_find(store, "npu", "replay", arena, &found), TAPML_OK);
}
