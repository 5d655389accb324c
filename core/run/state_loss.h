// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a model loses by keeping the states of keys and values in fewer bits.
#pragma once

#include "config/run_config.h"
#include "model/prompts.h"
#include "run/setup.h"

struct store;

// Runs the first prompt on the first place of `setup`, once with states of f32 and once with those
// of the model. Of each state its rows are compared with what is left of them, and the logits of
// both runs with each other; both are kept in the store and printed. Nothing is done if the states
// are f32, or if the store has the result. One thread. Failures are those of the source and of the
// store.
tapml_status state_loss_run(const struct run_config *config,
                            struct setup *setup,
                            struct store *store,
                            const struct prompts *prompts) STATUS_USED;
