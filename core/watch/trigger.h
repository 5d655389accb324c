// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether what a look has found makes cases run again, by the triggers that are on.
//
// Pure; any thread.
#pragma once

#include "base/text.h"
#include "config/watch_settings.h"

#include <stdint.h>

// What a look has found, of all targets.
struct trigger_facts {
    int64_t all, stale; // Cases times targets; those without a fresh result.

    // Of what is stale: the risk of each of its ops times the seconds since it is stale, summed,
    // and the seconds that running it is predicted to take.
    double regret_s, cost_s;

    double drift;       // The largest factor by which the margin of a sampled case has moved, or
                        // infinite if its verdict turned; 1: by none.
    double performance; // The largest share by which the times of an op's samples have moved.

    int policy_fires;        // What the policy of a plugin says (watch/policy_look.h),
    const char *policy_said; // with its name and its reason; NULL: none was asked.
};

// Whether cases are to run; and the triggers that have fired, with their numbers, appended with
// "; " between. Drift and performance ask for cases that are not stale yet.
int trigger_decide(const struct watch_settings *settings,
                   const struct trigger_facts *facts,
                   struct text *out_fired);
