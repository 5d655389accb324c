// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/trigger.h"

#include <inttypes.h>

static const double PERCENT = 100;

static int has_fired(enum watch_trigger trigger,
                     const struct watch_settings *settings,
                     const struct trigger_facts *facts)
{
    switch (trigger) {
    case WATCH_IDENTITY:
        return facts->stale > 0;
    case WATCH_COST:
        return facts->stale > 0 && facts->regret_s > facts->cost_s;
    case WATCH_DRIFT:
        return facts->drift > settings->drift;
    case WATCH_PERFORMANCE:
        return facts->performance > settings->performance;
    case WATCH_POLICY:
        return facts->policy_said != NULL && facts->policy_fires;
    case WATCH_TRIGGERS:
        break;
    }
    return 0;
}

static void
tell(enum watch_trigger trigger, const struct trigger_facts *facts, struct text *out_fired)
{
    text_format(out_fired, "%s%s: ", out_fired->length > 0 ? "; " : "",
                watch_settings_trigger(trigger));
    if (trigger == WATCH_IDENTITY) {
        text_format(out_fired, "%" PRId64 " of %" PRId64 " cases have no fresh result",
                    facts->stale, facts->all);
    } else if (trigger == WATCH_COST) {
        text_format(out_fired, "%.3g s at risk, %.3g s to run", facts->regret_s, facts->cost_s);
    } else if (trigger == WATCH_DRIFT) {
        text_format(out_fired, "a margin has moved by a factor of %.3g", facts->drift);
    } else if (trigger == WATCH_POLICY) {
        text_append(out_fired, facts->policy_said);
    } else {
        text_format(out_fired, "times have moved by %.3g %%", facts->performance * PERCENT);
    }
}

int trigger_decide(const struct watch_settings *settings,
                   const struct trigger_facts *facts,
                   struct text *out_fired)
{
    int on = 0, fired = 0;

    for (int i = 0; i < WATCH_TRIGGERS; i++) {
        if (!(settings->is_on & 1U << i)) {
            continue;
        }
        on++;
        if (has_fired((enum watch_trigger)i, settings, facts)) {
            fired++;
            tell((enum watch_trigger)i, facts, out_fired);
        }
    }
    return settings->ensemble == WATCH_MAJORITY ? 2 * fired > on : fired > 0;
}
