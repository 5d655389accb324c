// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The places of the parts of a sharding, as rules of a plan.
//
// One thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "exec/plan.h"
#include "plugin/model.h"

// Adds rules behind those of a plan: what `sharding_rewrite` has made for a place runs there. All
// other ops run where the rules before say. Nothing where the model is not divided, or NULL.
tapml_status sharding_plan_add(const struct model *model, struct plan *plan) STATUS_USED;
