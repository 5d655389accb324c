// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A model on the places that options ask for: on one backend, or on those of a plan.
//
// A plan (exec/plan.h) names places. What these are, and how the model was opened, is known from
// the run in whose folder the plan lies, as far as options do not say otherwise.
//
// One thread. Failures are those of the model, of its files, of the backends and of the run's
// store, TAPML_NO_MEMORY, and TAPML_INVALID for options that are none or exclude each other.
#pragma once

#include "run/setup.h"

struct plan;
struct store;

// The options of commands that run a model on one backend or under a plan; beside them stand
// --model, SETUP_ISOLATION_OPTIONS, SETUP_OBSERVER_OPTIONS and SETUP_MODEL_OPTIONS.
#define PLAN_SETUP_OPTIONS                                                                         \
    {"--backend", "B", "runs everything on one backend: COMPONENT or COMPONENT:DEVICE"},           \
        {"--activations", "f32|f16", "of --backend; f32 by default"},                              \
        {"--plan", "FILE", "runs a plan; its places come from the run in its folder, or from:"},   \
        {"--source", "B", "the backend of the plan's place 'source'"},                             \
        {"--target", "NAME=B", "the backend of another place of the plan; may be repeated"},       \
        {"--ring", "SIZE",                                                                         \
         "of the weights, which go through it: MiB, '12.5%' of them or 'auto'; docs/ring.md"},     \
        {"--slots", "N", "of --ring; chosen by default"}, SETUP_SHARDING_OPTION,                   \
        {"--explain", NULL, "says at the end what --ring held and loaded, on the standard error"}, \
        {"--weights", "ENCODING",                                                                  \
         "encodes weights at load: docs/encodings.md; default with --plan: as in its run"},        \
    {                                                                                              \
        "--state", "f32|f16|q8_0",                                                                 \
            "the type of keys and values; default with --plan: as in its run"                      \
    }

struct plan_setup {
    struct setup *setup;           // Open. Borrowed, as the options.
    const struct options *options; // Of PLAN_SETUP_OPTIONS and those beside them.
    const char *plan;              // The path of --plan, or NULL.
    struct store *run;             // In whose folder it lies; NULL where there is none.
    enum activation activation;    // Without a plan: of everything.
};

// Finds the run of the plan. The caller releases it by `plan_setup_close` after a failure, too.
tapml_status plan_setup_open(struct setup *setup,
                             const struct options *options,
                             struct plan_setup *out_plan_setup) STATUS_USED;
void plan_setup_close(struct plan_setup *plan_setup);

// Opens the model: that of --model, else that of the run. `*out_options` is how; its texts live as
// long as the setup.
tapml_status plan_setup_model(struct plan_setup *plan_setup,
                              struct model_options *out_options) STATUS_USED;

// Opens the places: the source; behind it those of the plan or, without one, that of reduced
// activations.
tapml_status plan_setup_places(struct plan_setup *plan_setup) STATUS_USED;

// With --explain: what the rings of the places of a session have held and loaded.
tapml_status plan_setup_explain(const struct plan_setup *plan_setup,
                                const struct session *session) STATUS_USED;

// The reduced activations of one of the places, else f32.
enum activation plan_setup_least(const struct plan_setup *plan_setup);

// Prints to stdout, in a line, a model and where it runs: "MODEL on COMPONENT:DEVICE (its name)",
// and behind that the other places or activations. TAPML_NO_MEMORY.
tapml_status plan_setup_print(const struct plan_setup *plan_setup, const char *model) STATUS_USED;

// Whether the model runs otherwise than on the source alone, in f32.
int plan_setup_is_mixed(const struct plan_setup *plan_setup);

// The plan: that of the file; all on the place of reduced activations; all on the source. The
// caller owns it.
tapml_status plan_setup_plan(const struct plan_setup *plan_setup,
                             struct plan **out_plan) STATUS_USED;
