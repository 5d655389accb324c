// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether what a policy of a plugin has answered (tapml/draft/policy.h) is an answer at all: a
// stranger may have left anything there.
//
// Pure; any thread. TAPML_INTERNAL says what is wrong, "its order ..."; TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <tapml/draft/policy.h>

// An order of kinds has each of them once.
tapml_status policy_answer_check_kinds(const tapml_policy_kind *const *kinds,
                                       uint32_t count,
                                       const uint32_t *order) STATUS_USED;

// A choice has `count` cases of the question, each once, within the budget, at least one if the
// budget has room for one, with a worth for each that is a number.
tapml_status policy_answer_check_choice(const tapml_policy_cases *question,
                                        const uint32_t *chosen,
                                        const double *worth,
                                        uint32_t count) STATUS_USED;

// An order of some cases of the question, those of `given`, has each of them once.
tapml_status policy_answer_check_cases(const tapml_policy_cases *question,
                                       const uint32_t *given,
                                       const uint32_t *order,
                                       uint32_t count) STATUS_USED;

// An answer to a look is yes or no, and its reason is a text.
tapml_status policy_answer_check_look(const tapml_policy_answer *answer) STATUS_USED;

// Plans are as many as there is room for at most, and have each operator where it may run.
tapml_status policy_answer_check_plans(const tapml_policy_ops *question,
                                       const uint8_t *places,
                                       uint32_t count) STATUS_USED;

// What a case counts against a budget in time, in nanoseconds.
double policy_answer_time_ns(const tapml_policy_case *item);
