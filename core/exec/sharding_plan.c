// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/sharding_plan.h"

#include "base/text.h"

// Adds a rule, unless it matches nothing, which a plan refuses.
static tapml_status
add_rule(struct plan *plan, const struct graph *graph, const char *glob, const char *place)
{
    struct text rule;
    uint32_t op = 0;
    while (op < graph->op_count && !text_glob(glob, graph->ops[op].instance)) {
        op++;
    }
    if (op == graph->op_count) {
        return TAPML_OK;
    }
    text_init(&rule);
    text_format(&rule, "instance=%s -> %s", glob, place);
    tapml_status status = text_status(&rule);
    if (status == TAPML_OK) {
        status = plan_add(plan, rule.data, "sharding");
    }
    text_release(&rule);
    return status;
}

// An op, and the copies that its layouts ask for.
tapml_status sharding_plan_add(const struct model *model, struct plan *plan)
{
    uint64_t copied = 0;
    const struct sharding *sharding = model ? model_sharding(model, &copied) : NULL;
    for (uint32_t i = 0; sharding && i < sharding->part_count; i++) {
        for (int is_copy = 0; is_copy < 2; is_copy++) {
            struct text glob;
            text_init(&glob);
            text_format(&glob, "*@%s%s", sharding->places[i], is_copy ? "/*" : "");
            tapml_status status = text_status(&glob);
            if (status == TAPML_OK) {
                status = add_rule(plan, model_graph(model), glob.data, sharding->places[i]);
            }
            text_release(&glob);
            TAPML_TRY(status);
        }
    }
    return TAPML_OK;
}
