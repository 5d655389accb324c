// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The policies of plugins that a run's file names (plugin/policy.h): one for each thing that can be
// asked of one, in [offload], [select], [order] and [watch].
//
// One thread, that of the registry, which outlives the policies.
#pragma once

#include "plugin/policy.h"

struct problems;
struct run_config;

struct policies {
    struct policy *of[POLICY_ROLES]; // NULL: the file names none.
};

// Opens what the file names, and makes its choice of cases that of the policies. Fails as
// policy_create does, with section and key before. Policies of zeros are to be released after a
// failure, too.
tapml_status policies_open(struct registry *registry,
                           struct run_config *io_config,
                           struct policies *out_policies) STATUS_USED;
void policies_release(struct policies *policies);

// Tells which of them cannot be opened.
void policies_check(struct registry *registry,
                    const struct run_config *config,
                    struct problems *problems);
