// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/tuning_classes.h"

static struct short_setup run;
static struct arena *arena;

static void begin(void)
{
    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    short_setup_close(&run);
}

TestSuite(tuning_classes, .init = begin, .fini = end, .timeout = 60);

static struct tuning_classes find(const char *op)
{
    struct tuning_classes classes;

    SHORT_MUST(tuning_classes_find(
        &(struct tuning_classes_options){.store = run.store,
                                         .registry = run.setup.registry,
                                         .backend = run.setup.places[1]->backend,
                                         .checkpoint = model_checkpoint(run.setup.model),
                                         .op = op},
        arena, &classes));
    return classes;
}

Test(tuning_classes, a_device_without_knobs_has_none)
{
    const struct tuning_classes all = find(NULL), some = find("linear"), none = find("none");

    cr_expect_eq(all.count, 0);
    cr_expect_gt(all.cases, some.cases);
    cr_expect_gt(some.cases, 0);
    cr_expect_eq(some.no_choices, some.cases);
    cr_expect_eq(none.cases, 0);
}
