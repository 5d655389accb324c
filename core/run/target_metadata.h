// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a target of a run is, kept in its store: what was found on another one does not count.
// One thread.
#pragma once

#include "run/run_judge.h"

// Compares a target with what it was at the last start.
// With another device, driver, option or activation dtype all is forgotten that was found on it. If
// only code is other than it was, of an op that the model has, on the target, the source or a
// device that calibrates, or the injected faults are, then the steps of the offload are forgotten,
// and what they came to: results say for themselves which of them are stale (store/result.h).
tapml_status target_metadata_settle(const struct run_judge *judge,
                                    const struct place *place) STATUS_USED;

// The same for who replays cases alone (run/ranking.h): what was found with another device, driver,
// option, activation dtype or injected fault is forgotten. Code is not compared.
tapml_status target_metadata_settle_cases(const struct run_judge_options *run,
                                          const struct place *place) STATUS_USED;

// Compares a member of a pool (config/device_pool.h) with what the store says of its target, and
// changes nothing: TAPML_UNAVAILABLE if it is another device, driver or option.
tapml_status target_metadata_check_member(const struct run_judge_options *run,
                                          const struct place *place) STATUS_USED;

// Notes for the report what the weights of a target, the second place of a session, went through
// (exec/ring); nothing of one without a ring.
tapml_status target_metadata_note_ring(struct store *store,
                                       const struct session *session,
                                       const char *target) STATUS_USED;
