// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/tuning.h"

#include <string.h>

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

TestSuite(tuning, .init = begin, .fini = end, .timeout = 60);

static tapml_status tune(const char *op)
{
    struct tuning tuning;

    return tuning_run(&(struct tuning_options){.setup = &run.setup,
                                               .target = &run.setup.places[1]->settings,
                                               .store = run.store,
                                               .checkpoint = model_checkpoint(run.setup.model),
                                               .op = op,
                                               .trials = 2},
                      arena, &tuning);
}

// What is tried of a device that has knobs is a question of tests/end-to-end/test_tune.py.
Test(tuning, a_device_without_knobs_is_refused_with_a_sentence)
{
    cr_expect_eq(tune(NULL), TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "has nothing to choose"), "%s", status_message());
    cr_expect_eq(tune("none"), TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "no case of 'none'"), "%s", status_message());
}
