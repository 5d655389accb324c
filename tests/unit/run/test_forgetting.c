// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/scratch.h"
#include "run/forgetting.h"
#include "store/step.h"
#include "store/store.h"
#include "store/store_open.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void add_step(struct store *store, const char *target)
{
    MUST(step_add(store, &(struct step_row){.target = target,
                                            .step = "final",
                                            .verdict = STEP_AGREES,
                                            .reason = "",
                                            .plan = "",
                                            .margin = NAN}));
}

Test(forgetting, steps_of_one_target_are_forgotten)
{
    struct scratch scratch;
    struct store *store = NULL;
    struct arena *arena = arena_create();
    struct step_row row;

    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    add_step(store, "gpu");
    add_step(store, "other");
    MUST(forgetting_results(store, "gpu"));
    MUST(step_find(store, "gpu", "final", arena, &row));
    MUST(forgetting_steps(store, "gpu"));
    cr_expect_eq(step_find(store, "gpu", "final", arena, &row), TAPML_NOT_FOUND);
    MUST(step_find(store, "other", "final", arena, &row));
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}
