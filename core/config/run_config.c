// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/run_config.h"

#include "base/alloc.h"
#include "base/text.h"
#include "tensor/encoding.h"

#include <stdio.h>
#include <string.h>

// -- Targets -----------------------------------------------------------------------------------

int run_config_has_target(const struct run_config *config, const char *name)
{
    for (size_t i = 0; i < config->target_count; i++) {
        if (strcmp(config->targets[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

tapml_status run_config_find_target(const struct run_config *config,
                                    const char *name,
                                    struct place_settings *out_settings)
{
    for (size_t i = 0; i < config->target_count; i++) {
        if (strcmp(config->targets[i].name, name) == 0) {
            *out_settings = config->targets[i];
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID, "'%s' has no section [target.%s]",
                       config->path != NULL ? config->path : "no --config", name);
}

const char *run_config_nearest_target(const struct run_config *config, const char *name)
{
    const char *names[RUN_CONFIG_TARGETS_MAX + 2] = {"source"};

    for (size_t i = 0; i < config->target_count; i++) {
        names[i + 1] = config->targets[i].name;
    }
    return text_nearest(name, names);
}

const struct device_pool *run_config_pool(const struct run_config *config, size_t target)
{
    const char *name = config->targets[target].pool;

    for (size_t i = 0; name != NULL && i < config->pool_count; i++) {
        if (strcmp(config->pools[i].name, name) == 0) {
            return &config->pools[i];
        }
    }
    return NULL;
}

struct rate run_config_rate(const struct run_config *config, const char *name)
{
    char section[64]; // No section has a longer name.
    struct rate rate = rate_none();

    (void)snprintf(section, sizeof(section), "%s%.50s",
                   strcmp(name, "source") == 0 ? "" : "target.", name);
    const char *text = ini_get(&config->ini, section, "rate");

    return text != NULL && rate_read(text, &rate) == TAPML_OK ? rate : rate_none();
}

// -- The plan ----------------------------------------------------------------------------------

static tapml_status add_rule(const struct run_config *config,
                             const struct ini_entry *entry,
                             const char *target,
                             struct plan *plan)
{
    const char *arrow = strstr(entry->value, "->");
    char rule[256], where[256]; // A line of the file is shorter.

    (void)snprintf(where, sizeof(where), "%.200s:%u", config->ini.name, entry->line);
    const char *place = arrow != NULL ? arrow + 2 + strspn(arrow + 2, " \t") : "";

    if (*place == '\0') {
        return plan_add(plan, entry->value, where); // Which says what is wrong with it.
    }
    if (strcmp(place, "source") != 0 && !run_config_has_target(config, place)) {
        const char *near = run_config_nearest_target(config, place);

        return status_fail(TAPML_INVALID,
                           "%s: expected 'source' or the name of a target behind '->', found "
                           "'%s'%s%s%s",
                           where, place, near != NULL ? ", did you mean '" : "",
                           near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    (void)snprintf(rule, sizeof(rule), "%.*s-> %s", (int)(arrow - entry->value), entry->value,
                   strcmp(place, target) == 0 ? target : "source");
    return plan_add(plan, rule, where);
}

tapml_status
run_config_goal(const struct run_config *config, const char *target, struct plan **out_plan)
{
    struct plan *plan = NULL;
    char everything[256];
    int has_rules = 0;
    tapml_status status = plan_create(&plan);

    for (size_t i = 0; i < config->ini.count && status == TAPML_OK; i++) {
        if (strcmp(config->ini.entries[i].section, "plan") == 0) {
            status = add_rule(config, &config->ini.entries[i], target, plan);
            has_rules = 1;
        }
    }
    if (status == TAPML_OK && !has_rules) {
        (void)snprintf(everything, sizeof(everything), "* -> %.200s", target);
        status = plan_add(plan, everything, config->ini.name);
    }
    if (status != TAPML_OK) {
        plan_destroy(plan);
        return status;
    }
    *out_plan = plan;
    return TAPML_OK;
}

tapml_status run_config_check_plan(const struct run_config *config, struct problems *problems)
{
    struct plan *plan = NULL;

    TAPML_TRY(plan_create(&plan));
    for (size_t i = 0; i < config->ini.count; i++) {
        const struct ini_entry *entry = &config->ini.entries[i];

        if (strcmp(entry->section, "plan") == 0 && strcmp(entry->key, "rule") == 0) {
            problems_take(problems, add_rule(config, entry, "source", plan));
        }
    }
    plan_destroy(plan);
    return TAPML_OK;
}

static tapml_status match_plan(const struct run_config *config,
                               const struct graph *graph,
                               const char *target,
                               uint8_t *places)
{
    const char *const names[] = {"source", target};
    struct plan *plan = NULL;

    TAPML_TRY(run_config_goal(config, target, &plan));
    const tapml_status status = plan_resolve(plan, graph, names, 2, places);

    plan_destroy(plan);
    return status;
}

void run_config_match(const struct run_config *config,
                      const struct graph *graph,
                      struct problems *problems)
{
    uint8_t *places = alloc_array((size_t)graph->op_count * PLAN_PHASES + 1, sizeof(*places));
    tapml_status status = places != NULL ? TAPML_OK : status_no_memory();

    // The rules are the same for all targets, and so is what they match.
    if (status == TAPML_OK && config->target_count > 0) {
        status = match_plan(config, graph, config->targets[0].name, places);
    }
    problems_take(problems, status);
    alloc_free(places);
    for (size_t i = 0; i < config->fault_count; i++) {
        const struct fault_rule *rule = &config->faults[i].rule;

        if (fault_rule_check(rule, graph) != TAPML_OK) {
            problems_refuse(problems, &config->ini, rule->name, "kind", "%s", status_message());
        }
    }
}

// -- The rest ----------------------------------------------------------------------------------

void run_config_release(struct run_config *config)
{
    for (size_t i = 0; i < config->forecast_count; i++) {
        device_file_release(&config->forecasts[i].device);
        alloc_free(config->forecasts[i].figures);
    }
    config->forecast_count = 0;
    ini_release(&config->ini);
    alloc_free(config->rules);
    config->rules = NULL;
}

tapml_status run_config_find_encoding(struct run_config *config)
{
    const tapml_status status = encoding_read(config->weights, &config->encoding);

    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "%s: [model] weights", config->path);
}

struct model_options run_config_model(const struct run_config *config)
{
    return (struct model_options){
        .folder = config->model,
        .delta = config->delta,
        .adapter = config->adapter,
        .architecture = config->architecture,
        .allow_unknown_keys = config->allow_unknown_keys,
        .plain_inputs = config->plain_inputs,
        .encoding = config->encoding,
        .state = config->state,
        .groups = config->groups,
        .group_count = config->group_count,
    };
}

const struct choice_settings *run_config_choice(const struct run_config *config)
{
    const struct choice_settings *choice = &config->choice;
    const int is_carved = choice->order == CHOICE_AUTO || choice->order == CHOICE_CARVED;

    return choice->budget.kind == BUDGET_ALL && is_carved && config->order_policy == NULL ? NULL
                                                                                          : choice;
}

size_t run_config_room(const struct run_config *config)
{
    const int64_t room = config->capacity - config->decode;

    return room > 0 ? (size_t)room : 1; // The last token is decoded and not fed.
}
