// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which kept cases each member of a pool replays (config/device_pool.h). Members are processes of
// one host, over one store: each claims some cases at a time that nobody else has claimed, in the
// order of the store. When there are none it claims one op after the other, for what is derived.
//
// Claims are in memory that the processes share, and not in the store: what a member has claimed
// that has ended is free at once, and a run that is killed leaves none behind.
//
// A limit is measured on the first case of its class (verify/calibrator.h), so that first cases are
// handed out first: the others follow once all of these are judged, and have the limits that one
// process would have measured.
//
// A share is of one thread, that of its store. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct handed_cases; // run/target_jobs.h
struct store;

struct case_claims;

// For at most `members` processes, before they are made. TAPML_UNAVAILABLE where the system gives
// no memory that they share. The caller destroys it.
tapml_status case_share_claims_create(size_t members, struct case_claims **out_claims) STATUS_USED;
void case_share_claims_destroy(struct case_claims *claims); // NULL is allowed.

struct case_share;

// What the calling process, the `member`th from 0, has of the cases of `target`. All is borrowed.
tapml_status case_share_create(struct case_claims *claims,
                               size_t member,
                               struct store *store,
                               const char *target,
                               struct case_share **out_share) STATUS_USED;
void case_share_destroy(struct case_share *share); // NULL is allowed.

// What the member claims, which the share outlives.
struct handed_cases case_share_cases(struct case_share *share);
