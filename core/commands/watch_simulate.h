// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// `tapml-host watch --simulate`: replays what the looks at a run have recorded under other
// triggers, ensembles and budgets (watch/simulation.h), and prints what each would have run and
// found, as a table or as JSON. Nothing runs, and the store is only read.
#pragma once

#include "config/options.h"

// `options` are those of `watch`: --simulate, --config FILE or a folder, --triggers, --ensemble and
// --budget, each of which may stand several times, --interval, --json. TAPML_INVALID for what is
// none of these, TAPML_NOT_FOUND if no look has recorded anything, the failures of the store, and
// TAPML_NO_MEMORY.
tapml_status watch_simulate_run(const struct options *options) STATUS_USED;
