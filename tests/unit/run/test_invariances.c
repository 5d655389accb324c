// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "model/checkpoint.h"
#include "run/carving.h"
#include "run/invariances.h"
#include "run/run_metadata.h"
#include "store/invariant.h"
#include "verify/verdicts.h"

// A run that is carved, and what its target makes of it.
static struct verdict_options replay(struct short_setup *run, struct verdict_list *out_list)
{
    short_setup_open(run);
    SHORT_MUST(run_metadata_settle(run->store, &run->config, &run->setup, &run->prompts));
    SHORT_MUST(carving_run(&run->config, &run->setup, run->store, &run->prompts, NULL));
    const struct verdict_options options = {.registry = run->setup.registry,
                                            .store = run->store,
                                            .target = "other",
                                            .backend = run->setup.places[1]->backend,
                                            .checkpoint = model_checkpoint(run->setup.model)};

    SHORT_MUST(verdicts_make(&options, out_list));
    return options;
}

static size_t count_rows(struct store *store, const char *verdict)
{
    struct arena *arena = arena_create();
    struct invariant_row *rows = NULL;
    size_t count = 0, found = 0;

    SHORT_MUST(invariant_list(store, "other", arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        found += strcmp(rows[i].verdict, verdict) == 0;
    }
    arena_destroy(arena);
    return found;
}

Test(invariances, a_second_place_is_the_second_queue, .timeout = 110)
{
    struct short_setup run;
    struct verdict_list list = {.arena = NULL};
    const struct verdict_options verdicts = replay(&run, &list);
    struct invariances_options options = {.setup = &run.setup,
                                          .target = run.setup.places[1],
                                          .verdicts = &verdicts,
                                          .list = &list,
                                          .settings = {.axes = 1U << INVARIANCE_ORDER}};

    SHORT_MUST(invariances_judge(&options));
    cr_assert_gt(count_rows(run.store, "equal bits"), 5u);
    cr_assert_eq(count_rows(run.store, "not tried"), 0u);
    options.settings.axes = 0;
    SHORT_MUST(invariances_judge(&options));
    cr_assert_eq(count_rows(run.store, "equal bits"), 0u, "nothing is asked");
    verdict_list_release(&list);
    short_setup_close(&run);
}
