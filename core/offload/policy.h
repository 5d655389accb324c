// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A policy of a plugin (tapml/draft/policy.h): another order in which op kinds are moved than that
// of offload/order.
//
// One thread. The registry outlives the policy.
#pragma once

#include "base/text.h"
#include "offload/order.h"
#include "plugin/registry.h"

struct policy;

// Opens the component `name`. Fails as registry_get does. The caller owns the policy;
// `policy_destroy` accepts NULL.
tapml_status
policy_create(struct registry *registry, const char *name, struct policy **out_policy) STATUS_USED;
void policy_destroy(struct policy *policy);

// Puts `kinds` into the order that the policy gives them; without one they stay as they are. A
// failure of the policy, and an order that is none, is TAPML_INTERNAL with its name;
// TAPML_NO_MEMORY and TAPML_CANCELLED stay what they are.
tapml_status
policy_order(struct policy *policy, struct order_kind *io_kinds, size_t count) STATUS_USED;

// Appends what the order depends on beside the kinds: component, build, options; nothing without a
// policy.
void policy_print(const struct policy *policy, struct text *out);

// Appends its name for people, "org.example.cheapest/cheapest 0.1.0"; nothing for NULL.
void policy_print_name(const struct policy *policy, struct text *out);
