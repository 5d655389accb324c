// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a store forgets of a target, once it no longer holds.
//
// Each writes several statements: call it inside of a transaction. Failures are those of the store.
#pragma once

#include "base/status.h"

struct store;

// What was found with the whole model: steps, offload, what is blamed, times, bundles.
tapml_status forgetting_steps(struct store *store, const char *target) STATUS_USED;

// What was measured on cases, kept and derived.
tapml_status forgetting_results(struct store *store, const char *target) STATUS_USED;
