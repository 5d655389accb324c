// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Targets that keep step ([run] coordinate): processes of one host, each with a target of its own,
// replay the same cases in the same round, so that what they say of an operator is there together.
//
// A round has the next cases in the order of the store that some target has no result for, as many
// as take the slowest target ROUND_S by what is predicted (choose/case_price.h). The process that
// is done with a round last logs what the targets say of an operator that is wrong on one of them,
// where that has changed (verify/agreement.h), and makes the next round. A process that has ended
// is not waited for.
//
// Rounds are in memory that the processes share. Failures are those of the store, and
// TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <sys/types.h>

struct handed_cases; // run/target_jobs.h
struct store;

struct case_rounds;

enum { CASE_ROUNDS_TARGETS_MAX = 64 };

// For `count` targets, of which one process each is to come, before these are made; names are
// borrowed. TAPML_UNAVAILABLE where the system gives no memory that they share. The caller destroys
// it.
tapml_status case_rounds_create(const char *const *targets,
                                size_t count,
                                struct case_rounds **out_rounds) STATUS_USED;
void case_rounds_destroy(struct case_rounds *rounds); // NULL is allowed.

// Says which process the `index`th target has. Until then it is waited for.
void case_rounds_expect(struct case_rounds *rounds, size_t index, pid_t process);

struct case_seat;

// What the calling process has of the rounds, for the `index`th target. The store is borrowed.
tapml_status case_rounds_join(struct case_rounds *rounds,
                              size_t index,
                              struct store *store,
                              struct case_seat **out_seat) STATUS_USED;

// The rounds of such a process; the seat outlives them.
struct handed_cases case_rounds_cases(struct case_seat *seat);

// The others do not wait for it any more. NULL is allowed.
void case_rounds_leave(struct case_seat *seat);
