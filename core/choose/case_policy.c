// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/case_policy.h"

#include "base/arena.h"
#include "plugin/policy.h"

#include <math.h>

static const double SECOND_NS = 1e9;

struct shown_cases {
    tapml_policy_cases question;
    tapml_policy_case *items;
    const tapml_policy_case **list;
    const char *features[FEATURE_COUNT];
};

static tapml_policy_case show_case(const struct case_policy_input *input, size_t index)
{
    const struct feature_case *item = &input->cases[index];
    return (tapml_policy_case){.hdr = TAPML_HDR(tapml_policy_case),
                               .op = item->op,
                               .instance = item->instance,
                               .phase = item->phase,
                               .signature = item->row.signature,
                               .source_ns = item->source_ns,
                               .time_ns = input->times_ns ? fmax(input->times_ns[index], 1) : NAN,
                               .features = item->row.values};
}

static tapml_status
show(const struct case_policy_input *input, struct arena *arena, struct shown_cases *out_shown)
{
    const struct case_budget *budget = &input->budget;
    struct shown_cases *shown = out_shown;
    shown->items = arena_array(arena, input->count + 1, sizeof(*shown->items));
    shown->list = arena_array(arena, input->count + 1, sizeof(*shown->list));
    if (!shown->items || !shown->list) {
        return status_no_memory();
    }
    for (size_t i = 0; i < input->count; i++) {
        shown->items[i] = show_case(input, i);
        shown->list[i] = &shown->items[i];
    }
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        shown->features[i] = feature_name(i);
    }
    shown->question = (tapml_policy_cases){
        .hdr = TAPML_HDR(tapml_policy_cases),
        .target = input->target,
        .cases = shown->list,
        .features = shown->features,
        .n_cases = (uint32_t)input->count,
        .n_features = FEATURE_COUNT,
        .count_max = (uint32_t)budget_cases(budget, input->count),
        .time_max_ns = budget->kind == BUDGET_SECONDS ? budget->amount * SECOND_NS : INFINITY};
    return TAPML_OK;
}

static tapml_status take(const struct case_policy_input *input,
                         const uint32_t *chosen,
                         const double *worth,
                         struct arena *arena,
                         struct select_result *io_result)
{
    uint8_t *has_case = arena_array(arena, input->group_count + 1, 1);
    io_result->picks = arena_array(arena, io_result->count + 1, sizeof(*io_result->picks));
    if (!has_case || !io_result->picks) {
        return status_no_memory();
    }
    io_result->groups_left = input->group_count;
    for (size_t i = 0; i < io_result->count; i++) {
        uint8_t *has = &has_case[input->groups[chosen[i]]];
        io_result->picks[i] = (struct select_pick){
            .index = chosen[i], .is_first = !*has, .gain = worth[i], .utility = worth[i]};
        io_result->groups_left -= !*has;
        *has = 1;
    }
    return TAPML_OK;
}

tapml_status case_policy_select(struct policy *policy,
                                const struct case_policy_input *input,
                                struct arena *arena,
                                struct select_result *out_result)
{
    struct select_result result = {.certificate = {.share = NAN}};
    struct shown_cases shown;
    uint32_t *chosen = arena_array(arena, input->count + 1, sizeof(*chosen));
    double *worth = arena_array(arena, input->count + 1, sizeof(*worth));
    uint32_t count = 0;
    if (!chosen || !worth) {
        return status_no_memory();
    }
    TAPML_TRY(show(input, arena, &shown));
    if (input->count > 0) {
        TAPML_TRY(policy_select(policy, &shown.question, chosen, worth, &count));
    }
    result.count = count;
    TAPML_TRY(take(input, chosen, worth, arena, &result));
    *out_result = result;
    return TAPML_OK;
}

tapml_status case_policy_order(struct policy *policy,
                               const struct case_policy_input *input,
                               struct arena *arena,
                               uint32_t *io_order,
                               size_t count)
{
    struct shown_cases shown;
    TAPML_TRY(show(input, arena, &shown));
    return count > 0 ? policy_order_cases(policy, &shown.question, (uint32_t)count, io_order)
                     : TAPML_OK;
}

const char *case_policy_name(const struct policy *policy, struct arena *arena)
{
    struct text text;
    text_init(&text);
    policy_print_name(policy, &text);
    const char *name = text_status(&text) == TAPML_OK ? arena_text(arena, text.data) : NULL;
    text_release(&text);
    return name;
}
