// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/trigger.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void expect(const char *triggers,
                   enum watch_ensemble ensemble,
                   const struct trigger_facts *facts,
                   int fires,
                   const char *sentence)
{
    struct watch_settings settings = {.ensemble = (int)ensemble};
    struct text text;

    cr_assert_eq(watch_settings_read(triggers, &settings), TAPML_OK);
    text_init(&text);
    cr_expect_eq(trigger_decide(&settings, facts, &text), fires, "%s: %s", triggers, text.data);
    cr_expect_str_eq(text.data, sentence, "%s: %s", triggers, text.data);
    text_release(&text);
}

Test(trigger, each_fires_by_its_own_fact)
{
    const struct trigger_facts none = {.all = 80, .drift = 1};
    const struct trigger_facts stale = {
        .all = 80, .stale = 4, .drift = 1, .regret_s = 3, .cost_s = 2};
    const struct trigger_facts moved = {.all = 80, .drift = 2.5, .performance = 0.6};

    expect("identity", WATCH_ANY, &none, 0, "");
    expect("identity", WATCH_ANY, &stale, 1, "identity: 4 of 80 cases have no fresh result");
    expect("cost", WATCH_ANY, &none, 0, "");
    expect("cost", WATCH_ANY, &stale, 1, "cost: 3 s at risk, 2 s to run");
    expect("cost", WATCH_ANY,
           &(struct trigger_facts){.all = 80, .stale = 4, .regret_s = 1, .cost_s = 2}, 0, "");
    expect("drift", WATCH_ANY, &moved, 1, "drift: a margin has moved by a factor of 2.5");
    expect("drift:3", WATCH_ANY, &moved, 0, "");
    expect("drift:3", WATCH_ANY, &(struct trigger_facts){.drift = INFINITY}, 1,
           "drift: a margin has moved by a factor of inf");
    expect("performance", WATCH_ANY, &moved, 1, "performance: times have moved by 60 %");
    expect("performance:70%", WATCH_ANY, &moved, 0, "");
    expect("policy:quick", WATCH_ANY, &stale, 0, "");
    expect("policy:quick", WATCH_ANY,
           &(struct trigger_facts){.policy_fires = 1, .policy_said = "quick 1.0: a driver"}, 1,
           "policy: quick 1.0: a driver");
    expect("policy:quick", WATCH_ANY, &(struct trigger_facts){.policy_said = "quick 1.0"}, 0, "");
}

Test(trigger, a_majority_is_more_than_half)
{
    const struct trigger_facts stale = {.all = 80, .stale = 4, .drift = 1, .cost_s = 2};
    const struct trigger_facts both = {
        .all = 80, .stale = 4, .drift = 3, .regret_s = 0, .cost_s = 2};

    expect("identity cost", WATCH_ANY, &stale, 1, "identity: 4 of 80 cases have no fresh result");
    expect("identity cost", WATCH_MAJORITY, &stale, 0,
           "identity: 4 of 80 cases have no fresh result");
    expect("identity cost drift", WATCH_MAJORITY, &both, 1,
           "identity: 4 of 80 cases have no fresh result; drift: a margin has moved by a factor of "
           "3");
}
