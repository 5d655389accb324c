// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where cases are replayed: on a backend that is a guard's, with the buffers and weights that are
// kept there from case to case.
//
// One thread. Failures are those of the backend and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "device/backend.h"
#include "exec/residency.h"
#include "model/checkpoint.h"
#include "verify/spare_buffers.h"

// Weights that were loaded anew since, while calls that used them were not looked at.
struct replay_site_retired {
    struct residency *weights;
    uint32_t holds;
    struct replay_site_retired *next;
};

struct replay_site {
    struct backend *backend;
    const struct checkpoint *checkpoint; // Of the weights; NULL if the cases have their bytes.
    struct residency *weights;
    uint32_t holds; // Of these weights.
    struct replay_site_retired *retired;
    struct spare_buffers spare;
    struct hash instance; // Of the name of the last one.
};

// Both are borrowed. `out_site` is closed also after a failure.
tapml_status replay_site_open(struct backend *backend,
                              const struct checkpoint *checkpoint,
                              struct replay_site *out_site) STATUS_USED;
void replay_site_close(struct replay_site *site);

// Loads the weights anew, after a wait: other cases must not compute with one that a call has
// corrupted.
tapml_status replay_site_renew(struct replay_site *site) STATUS_USED;

// Keeps the weights at hand from being freed by `replay_site_renew` until they are let go, for a
// call that is queued and not looked at. Returns them.
const struct residency *replay_site_hold(struct replay_site *site);
void replay_site_let_go(struct replay_site *site, const struct residency *weights);
