// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The account of a run's stages (base/stages) as rows of its store (store/stage.h), with what the
// replay of kept cases was like, by which the time of a stage is explained (choose/bottleneck.h).
//
// The rows of the phase "pipeline" are, of a target: `cases` that were replayed, `alone` (those in
// no window, and their time), `windows` (visits, bytes of their buffers, time that the far side
// worked on them), `could be more` (1: windows could have more cases), `round trip` (the time of a
// wait for next to nothing), `calls` (visits, their times), `ops`, `isolated` (1: in a worker),
// `budget` (bytes); of the run itself `store` (bytes of the file), `processors`, `side by side`
// (targets). One thread.
#pragma once

#include "base/stages.h"
#include "base/status.h"

struct pool;
struct place_settings;
struct store;

// Writes the account of a target in a transaction, if cases were replayed: an account of nothing
// says nothing.
tapml_status stage_times_write(struct store *store,
                               const struct place_settings *target,
                               const struct stages *stages) STATUS_USED;

// Writes that of the run itself, if the store has none or prompts were carved. `side` targets were
// done side by side, on the processors of `pool`.
tapml_status stage_times_write_run(struct store *store,
                                   const struct stages *stages,
                                   const struct pool *pool,
                                   size_t side) STATUS_USED;
