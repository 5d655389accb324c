// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What it may cost not to know the verdicts that are stale, and what it costs to know them: the
// trigger `cost`. The idea of weighing both is that of data-centric model training over growing
// data sets (Modyn, arXiv 2312.06254); this measure is ours.
//
//   regret = sum over the ops of the stale cases: (turns + 1) / (judged + 2) * seconds since the
//            first of them is stale
//
// with the verdicts on the op that were made anew, and those of them that had turned (the rule of
// succession). It has the unit of the predicted time of the stale cases, so that a verdict that
// turns at every second look is worth as many seconds of running as it is unknown for.
//
// A store belongs to one thread. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct case_budget;
struct store;

struct regret {
    double regret_s, cost_s;
};

#define REGRET_CASE_S 0.01 // What a case costs without a predictor.

// The risk of an op of a target: its share of the formula without the seconds. [any]
double regret_risk(int64_t judged, int64_t turns);

// Adds the regret and the predicted cost of what is stale on a target at `now_s`, in seconds since
// 1970, of the cases that `chosen` says ([select] of the run). Without a predictor a case costs
// REGRET_CASE_S. The regret is infinite if one of them is new: what nobody has watched has no past
// to be weighed.
tapml_status regret_add(struct store *store,
                        const char *target,
                        const struct case_budget *chosen,
                        int64_t now_s,
                        struct regret *io_regret) STATUS_USED;
