// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The health of a target on another machine while its jobs are done: its canary (verify/canary.h)
// is checked before, between and after them. A device that is sick is given up: what was found
// since the last check that it has passed is forgotten and nothing is blamed on ops. One that is
// slow is told of.
//
// What the canary came to and how the device is are rows of `metadata` of the run's store,
// "canary.NAME" and "health.NAME", so that the next start compares with the first one. Where the
// first check of a start differs, and is right, the device was sick at that first one: all that the
// store has of the target is forgotten, and the run goes on. A target of this machine has no
// canary.
//
// One thread, that of the store.
#pragma once

#include "base/status.h"

struct place;
struct registry;
struct store;

struct target_health;

enum {
    TARGET_HEALTH_CASES = 256, // After so many cases, or seconds, a look makes a check.
    TARGET_HEALTH_S = 60
};

// All is borrowed; the place is open. The caller destroys the health.
tapml_status target_health_create(struct store *store,
                                  struct registry *registry,
                                  const struct place *place,
                                  struct target_health **out_health) STATUS_USED;
void target_health_destroy(struct target_health *health); // NULL is allowed.

// Checks the canary. TAPML_DEVICE_LOST with a sentence if the device is sick; other failures are
// those of the backend and of the store. No work may be pending, and at the first check no
// transaction may be open.
tapml_status target_health_check(struct target_health *health) STATUS_USED;

// The same behind a case, once it is time, or if the device was started anew meanwhile.
tapml_status target_health_look(struct target_health *health) STATUS_USED;

// Settles how the jobs have ended: if the device is sick, results since the last check that it has
// passed are forgotten, all derived cases and what was asked of invariance, and, if
// `forgets_steps`, what was found with the whole model. No transaction is open. Returns `status`,
// with its message, or the failure of the store.
tapml_status
target_health_settle(struct target_health *health, int forgets_steps, tapml_status status);

enum { TARGET_HEALTH_SENTENCE = 300 };

// How the device of an open place is now, for people: "well", "slow: ...", "sick: ...", or that
// there is no canary. It is compared with what `store` has of it, which may be NULL. Nothing is
// written.
tapml_status target_health_ask(struct store *store,
                               struct registry *registry,
                               const struct place *place,
                               int *out_is_sick,
                               char out_how[TARGET_HEALTH_SENTENCE]) STATUS_USED;

// What the store says of a target: "well", "slow: ...", "sick: ..." or NULL, where nothing was
// checked. Lives until the next call with this store.
const char *target_health_read(struct store *store, const char *target);
