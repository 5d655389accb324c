// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The first phase of a run: the source runs the prompts under the recorder.
#pragma once

#include "config/run_config.h"
#include "exec/session.h"
#include "model/prompts.h"
#include "run/run_lock.h"
#include "run/setup.h"

#include <stdint.h>

struct store;

// Carves every prompt that the store does not have yet, on the first place of `setup`. The
// progress is published in `lock`; NULL is allowed.
tapml_status carving_run(const struct run_config *config,
                         struct setup *setup,
                         struct store *store,
                         const struct prompts *prompts,
                         struct run_lock *lock) STATUS_USED;

// The same, and `carved` is called after each prompt, whose rows are written soon after.
struct carving_listener {
    void (*carved)(void *user);
    void *user;
};
tapml_status carving_run_told(const struct run_config *config,
                              struct setup *setup,
                              struct store *store,
                              const struct prompts *prompts,
                              struct run_lock *lock,
                              const struct carving_listener *listener) STATUS_USED;

// What one of several processes of the source carves (run/source_shares.h).
struct carving_share {
    const uint32_t *of; // Whose share each prompt is;
    uint32_t index;     // those of this one are carved,
    uint32_t count;     // of so many.
};

// The same for a share of the prompts, which have their place among all.
tapml_status carving_run_share(const struct run_config *config,
                               struct setup *setup,
                               struct store *store,
                               const struct prompts *prompts,
                               const struct carving_share *share) STATUS_USED;
