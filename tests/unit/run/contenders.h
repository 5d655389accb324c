// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The options of a ranking of contenders over the embedded model's prompts, in chunks of 32 tokens.
#pragma once

#include "base/arena.h"
#include "harness/scratch.h"
#include "run/contender.h"
#include "run/plan_setup.h"
#include "run/text_setup.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const struct options_spec contender_specs[] = {
    {"--model", "PATH", ""}, {"--base", "PATH", ""},  TEXT_SETUP_OPTIONS,
    PLAN_SETUP_OPTIONS,      SETUP_ISOLATION_OPTIONS, SETUP_MODEL_OPTIONS,
    SETUP_OBSERVER_OPTIONS,  SETUP_OPTIONS,           {NULL, NULL, NULL}};

static char contender_program[1024], contender_model[1024], contender_text[1024];
static struct options contender_given;

// The options of the embedded model with others behind them, ended by NULL.
static inline void contender_options_set(char **more)
{
    char *words[48] = {"--model", contender_model, "--text", contender_text, "--context",
                       "32",      "--chunks",      "4",      "--backend",    "reference"};
    int count = 10;

    (void)snprintf(contender_program, sizeof(contender_program), "%s/tapml-host",
                   getenv("TAPML_TEST_BUILD"));
    (void)snprintf(contender_model, sizeof(contender_model), "%s", scratch_source("models/tiny"));
    (void)snprintf(contender_text, sizeof(contender_text), "%s",
                   scratch_source("models/tiny/prompts.txt"));
    for (size_t i = 0; more[i] != NULL; i++) {
        words[count++] = more[i];
    }
    MUST(options_parse(contender_specs, count, words, &contender_given));
}

#define CONTENDER_OPTIONS(...) contender_options_set((char *[]){__VA_ARGS__, NULL})

static inline struct contender_options contender_options_of(enum contender_measure measure)
{
    return (struct contender_options){.program = contender_program,
                                      .options = &contender_given,
                                      .measure = measure,
                                      .base = measure == CONTENDER_KL ? contender_model : NULL};
}
