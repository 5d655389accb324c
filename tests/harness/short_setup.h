// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The pieces of a short run, open: what tests of a run's phases stand on.
#pragma once

#include "config/run_file.h"
#include "harness/short_run.h"
#include "model/prompts.h"
#include "run/setup.h"
#include "store/store.h"
#include "store/store_open.h"

struct short_setup {
    struct scratch scratch;
    struct run_config config;
    struct setup setup;
    struct prompts prompts;
    struct store *store;
};

#define SHORT_MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static inline void short_setup_open(struct short_setup *run)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    struct options options;
    char program[1024];

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    scratch_make(&run->scratch);
    SHORT_MUST(run_file_load(short_run_write_text(&run->scratch, ""), &run->config));
    SHORT_MUST(options_parse(specs, 0, NULL, &options));
    SHORT_MUST(setup_open(program, &options, &run->config.ini, &run->setup));
    SHORT_MUST(setup_model(&run->setup, &(struct model_options){.folder = run->config.model}));
    SHORT_MUST(prompts_load(run->config.prompts,
                            &(struct prompts_options){.tokenizer = run->setup.tokenizer},
                            &run->prompts));
    SHORT_MUST(setup_place(&run->setup, "source", run->config.source.backend));
    SHORT_MUST(setup_place(&run->setup, "other", run->config.targets[0].backend));
    SHORT_MUST(store_open(scratch_path(&run->scratch, "run.tapmlrun"), 1, &run->store));
}

static inline void short_setup_close(struct short_setup *run)
{
    store_close(run->store);
    prompts_release(&run->prompts);
    setup_close(&run->setup);
    run_config_release(&run->config);
    scratch_remove(&run->scratch);
}
