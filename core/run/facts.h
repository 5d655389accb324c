// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a run is, written into its store: a restart that differs is refused, naming the difference.
#pragma once

#include "config/run_config.h"
#include "model/prompts.h"
#include "run/setup.h"
#include "store/store.h"

// Writes the facts of a new run, or compares them with those of an earlier start.
tapml_status facts_settle(struct store *store,
                          const struct run_config *config,
                          const struct setup *setup,
                          const struct prompts *prompts) STATUS_USED;

// Encodes the weights that the run of a store had encoded, of a checkpoint just opened.
tapml_status facts_encode(struct store *store, struct checkpoint *checkpoint) STATUS_USED;

// Why a target was given up, at its last start; "" where it was not.
tapml_status facts_give_up(struct store *store, const char *target, const char *reason) STATUS_USED;

// Whether `target` (the place `index` of `setup`) is what it was at the last start: the same plugin
// build, device, driver, options, activations and planted faults. Where it is not, its results and
// its ledger are forgotten.
tapml_status facts_settle_target(struct store *store,
                                 const struct run_config *config,
                                 const struct setup *setup,
                                 uint32_t index) STATUS_USED;
