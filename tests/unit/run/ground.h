// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A short run of the embedded model whose cases have been replayed, and the ground of its plans.
#pragma once

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/plan_ground.h"
#include "run/ranking.h"
#include "run/run_metadata.h"
#include "run/target_metadata.h"

struct ground_fixture {
    struct short_setup run;
    struct options options;
    struct plan_ground ground;
};

static char ground_program[1024], ground_text[1024];

// Replays all cases on the target `other`.
static inline void ground_replay(struct short_setup *run)
{
    struct arena *arena = arena_create();
    struct ranking made;

    SHORT_MUST(run_metadata_settle(run->store, &run->config, &run->setup, &run->prompts));
    SHORT_MUST(carving_run(&run->config, &run->setup, run->store, &run->prompts, NULL));
    SHORT_MUST(target_metadata_settle_cases(&(struct run_judge_options){.setup = &run->setup,
                                                                        .config = &run->config,
                                                                        .store = run->store},
                                            run->setup.places[1]));
    SHORT_MUST(
        ranking_make(&(struct ranking_options){.registry = run->setup.registry,
                                               .store = run->store,
                                               .checkpoint = model_checkpoint(run->setup.model),
                                               .targets = &run->setup.places[1],
                                               .target_count = 1,
                                               .over = RANKING_OPS,
                                               .by = RANKING_TIME},
                     arena, &made));
    arena_destroy(arena);
}

static inline tapml_status ground_open(struct ground_fixture *fixture)
{
    static const struct options_spec specs[] = {PLAN_GROUND_OPTIONS, {NULL, NULL, NULL}};
    static char *words[] = {"--context", "16", "--chunks", "2"};

    (void)snprintf(ground_program, sizeof(ground_program), "%s/tapml-host",
                   getenv("TAPML_TEST_BUILD"));
    (void)snprintf(ground_text, sizeof(ground_text), "%s",
                   scratch_source("models/tiny/prompts.txt"));
    SHORT_MUST(options_parse(specs, 4, words, &fixture->options));
    return plan_ground_open(&(struct plan_ground_options){.program = ground_program,
                                                          .given = &fixture->options,
                                                          .folder = fixture->run.scratch.folder,
                                                          .text = ground_text},
                            &fixture->ground);
}

static inline void ground_close(struct ground_fixture *fixture)
{
    plan_ground_close(&fixture->ground);
    short_setup_close(&fixture->run);
}
