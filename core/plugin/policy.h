// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A policy of a plugin (tapml/draft/policy.h), of this draft or the one before: opened for what a
// run asks of it, and asked. What it answers is checked as plugin/policy_answer.h says.
//
// One thread. The registry outlives the policy.
#pragma once

#include "base/text.h"
#include "plugin/policy_table.h"
#include "plugin/registry.h"

struct policy;

// Opens the component `name`. Fails as registry_get does, and with TAPML_INVALID if it lacks the
// function. The caller owns the policy; `policy_destroy` accepts NULL.
tapml_status policy_create(struct registry *registry,
                           const char *name,
                           enum policy_role role,
                           struct policy **out_policy) STATUS_USED;
void policy_destroy(struct policy *policy);

// Each asks the function of its name, which the policy was opened for. A failure of the policy, and
// an answer that is none, is TAPML_INTERNAL with its name; TAPML_NO_MEMORY and TAPML_CANCELLED stay
// what they are. What was to be filled or changed is undefined after a failure.
tapml_status policy_order(struct policy *policy,
                          const tapml_policy_kind *const *kinds,
                          uint32_t count,
                          uint32_t *io_order) STATUS_USED;
tapml_status policy_select(struct policy *policy,
                           const tapml_policy_cases *question,
                           uint32_t *out_chosen,
                           double *out_worth,
                           uint32_t *out_count) STATUS_USED;
tapml_status policy_order_cases(struct policy *policy,
                                const tapml_policy_cases *question,
                                uint32_t count,
                                uint32_t *io_order) STATUS_USED;
tapml_status policy_trigger(struct policy *policy,
                            const tapml_policy_look *look,
                            tapml_policy_answer *out_answer) STATUS_USED;
tapml_status policy_build(struct policy *policy,
                          const tapml_policy_ops *question,
                          uint8_t *out_places,
                          uint32_t *out_count) STATUS_USED;

// Appends what an answer depends on beside the question: component, build, options; nothing
// for NULL.
void policy_print(const struct policy *policy, struct text *out);

// Appends its name for people, "org.example.cheapest/cheapest 0.1.0"; nothing for NULL.
void policy_print_name(const struct policy *policy, struct text *out);
