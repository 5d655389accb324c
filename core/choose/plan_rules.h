// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// From the place of each operator to the rules of a plan (exec/plan.h) that mean just that, few
// enough for people: the place of most, then whole kinds of operators and whole layers, then what
// is left one by one.
//
// Pure; any thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/text.h"

#include <tapml/draft/policy.h>

// Appends the rules, one a line. `places` has a number of `question->places` for each operator.
// Each operator that is not where most are can be named by a rule (`plan_can_name`). The status of
// `out_text` reports a failure, too.
tapml_status plan_rules_write(const tapml_policy_ops *question,
                              const uint8_t *places,
                              struct text *out_text) STATUS_USED;

// The length of the first part of an instance, "layers.3" of "layers.3/attn/q_proj"; 0 without one.
size_t plan_rules_layer(const char *instance);
