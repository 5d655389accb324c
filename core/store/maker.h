// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `maker`: what the results of each op on a target depend on, as of the last start that
// replayed. It says without any device which results are stale. A store and what is read from it
// belong to one thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct result_maker;
struct store;

// Makes `maker` that of an op on a target, in the transaction at hand if there is one. Fails as
// SQLite does: a full disk, a store that is locked.
tapml_status maker_write(struct store *store,
                         const char *target,
                         const char *op,
                         uint32_t version,
                         const struct result_maker *maker) STATUS_USED;

struct maker_stale {
    int64_t results; // Of another implementation, device, driver or option, or without errors: the
                     // next start replays their cases.
    int64_t limits;  // Fresh ones whose limits are another oracle's: these are measured again.
};

// Counts the results of a target that the makers of its last start do not agree with. A result of
// an op that has no maker yet is stale only if it has no errors.
tapml_status maker_count_stale(struct store *store,
                               const char *target,
                               struct maker_stale *out_stale) STATUS_USED;
