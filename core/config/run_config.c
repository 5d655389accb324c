// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/run_config.h"

#include "base/alloc.h"
#include "base/text.h"
#include "config/keys.h"

#include <stdio.h>
#include <string.h>

// -- Targets and faults ------------------------------------------------------------------------

static int begins(const char *section, const char *group)
{
    return strncmp(section, group, strlen(group)) == 0 && section[strlen(group)] != '\0';
}

static void read_target(struct run_config *config, size_t index, struct problems *problems)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *section = config->ini.sections[index];
    const unsigned line = config->ini.section_lines[index];
    const char *name = section + strlen("target.");
    struct run_config_target target = {.name = name};

    if (config->target_count == RUN_CONFIG_TARGETS_MAX) {
        problems_add(problems, "%s:%u: expected at most %d targets, found [%s] too",
                     config->ini.name, line, RUN_CONFIG_TARGETS_MAX, section);
        return;
    }
    if (strcmp(name, "source") == 0 || name[strspn(name, legal)] != '\0') {
        problems_add(
            problems,
            "%s:%u: '%s' cannot be the name of a target: expected letters, digits, '_' and "
            "'-', and not 'source', which plans use",
            config->ini.name, line, name);
    }
    keys_read(&config->ini, section, &target, problems);
    config->targets[config->target_count++] = target;
}

static int is_target(const struct run_config *config, const char *name)
{
    for (size_t i = 0; i < config->target_count; i++) {
        if (strcmp(config->targets[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static const char *nearest_target(const struct run_config *config, const char *name)
{
    const char *names[RUN_CONFIG_TARGETS_MAX + 2] = {"source"};

    for (size_t i = 0; i < config->target_count; i++) {
        names[i + 1] = config->targets[i].name;
    }
    return text_nearest(name, names);
}

static void check_fault_target(const struct run_config *config,
                               const char *section,
                               const char *target,
                               struct problems *problems)
{
    const char *near = nearest_target(config, target);

    if (is_target(config, target)) {
        return;
    }
    keys_refuse(&config->ini, section, "target", problems,
                "expected the name of a target, found '%s'%s%s%s", target,
                near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                near != NULL ? "'?" : "");
}

// Kinds that end the process are for targets that have one of their own.
static void check_fault_place(const struct run_config *config,
                              const struct run_config_fault *fault,
                              struct problems *problems)
{
    for (size_t i = 0; i < config->target_count && fault_needs_worker(&fault->rule); i++) {
        if (strcmp(config->targets[i].name, fault->target) == 0 &&
            config->targets[i].isolation.mode != ISOLATION_ALWAYS) {
            keys_refuse(&config->ini, fault->rule.name, "kind", problems,
                        "'%s' ends the process: expected isolation = always in [target.%s]",
                        fault->rule.words, fault->target);
        }
    }
}

static void read_fault(struct run_config *config, size_t index, struct problems *problems)
{
    const char *section = config->ini.sections[index];
    struct run_config_fault fault = {.rule = {.name = section}};

    if (config->fault_count == RUN_CONFIG_FAULTS_MAX) {
        problems_add(problems, "%s:%u: expected at most %d faults, found [%s] too",
                     config->ini.name, config->ini.section_lines[index], RUN_CONFIG_FAULTS_MAX,
                     section);
        return;
    }
    keys_read(&config->ini, section, &fault, problems);
    if (fault.target != NULL) {
        check_fault_target(config, section, fault.target, problems);
    }
    if (fault.rule.words != NULL && fault_parse(&fault.rule) != TAPML_OK) {
        keys_refuse(&config->ini, section, "kind", problems, "%s", status_message());
    } else if (fault.rule.words != NULL && fault.target != NULL) {
        check_fault_place(config, &fault, problems);
    }
    config->faults[config->fault_count++] = fault;
}

// -- Values ------------------------------------------------------------------------------------

// Whether a number of [run] is what the file says, or 1 where the file says nothing.
static int is_sound(const struct ini *ini, const char *key, int64_t number)
{
    const char *value = ini_get(ini, "run", key);
    int64_t said = 0;

    return value == NULL || (text_parse_i64(value, &said) == TAPML_OK && said == number);
}

// What two keys of [run] say of each other. A chunk that nobody named follows the capacity.
static void settle_lengths(struct run_config *config, struct problems *problems)
{
    const struct ini *ini = &config->ini;
    const long long capacity = config->capacity;

    if (!is_sound(ini, "decode", config->decode) || !is_sound(ini, "capacity", capacity)) {
        return;
    }
    if (config->decode > capacity && ini_find(ini, "run", "decode") != NULL) {
        keys_refuse(ini, "run", "decode", problems,
                    "expected at most the capacity, %lld, found %lld", capacity,
                    (long long)config->decode);
    } else if (config->decode > capacity) {
        keys_refuse(ini, "run", "capacity", problems,
                    "expected at least 'decode', which is %lld where it is absent, found %lld",
                    (long long)config->decode, capacity);
    }
    if (config->chunk > capacity && ini_find(ini, "run", "chunk") != NULL) {
        keys_refuse(ini, "run", "chunk", problems,
                    "expected at most the capacity, %lld, found %lld", capacity,
                    (long long)config->chunk);
    }
    config->chunk = config->chunk < capacity ? config->chunk : capacity;
}

static void read_all(struct run_config *config, struct problems *problems)
{
    static const char *const single[] = {"run", "model", "source", "offload"};
    const struct ini *ini = &config->ini;

    for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++) {
        keys_read(ini, single[i], config, problems);
    }
    settle_lengths(config, problems);
    for (size_t i = 0; i < ini->section_count; i++) {
        if (begins(ini->sections[i], "target.")) {
            read_target(config, i, problems);
        }
    }
    for (size_t i = 0; i < ini->section_count; i++) {
        if (begins(ini->sections[i], "fault.")) {
            read_fault(config, i, problems);
        }
    }
}

// -- The plan ----------------------------------------------------------------------------------

static tapml_status add_rule(const struct run_config *config,
                             const struct ini_entry *entry,
                             const char *target,
                             struct plan *plan)
{
    const char *arrow = strstr(entry->value, "->");
    char rule[256], where[256];

    (void)snprintf(where, sizeof(where), "%.200s:%u", config->ini.name, entry->line);
    const char *place = arrow != NULL ? arrow + 2 + strspn(arrow + 2, " \t") : "";

    if (*place == '\0') {
        return plan_add(plan, entry->value, where); // Which says what is wrong with it.
    }
    if (strcmp(place, "source") != 0 && !is_target(config, place)) {
        const char *near = nearest_target(config, place);

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

        if (fault_check(rule, graph) != TAPML_OK) {
            keys_refuse(&config->ini, rule->name, "kind", problems, "%s", status_message());
        }
    }
}

// -- Reading -----------------------------------------------------------------------------------

// Every rule must be one, and name a place that the file has.
static tapml_status check_plan(const struct run_config *config, struct problems *problems)
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

static void tell(void *user, const char *sentence)
{
    problems_add(user, "%s", sentence);
}

tapml_status
run_config_survey(const char *path, struct problems *problems, struct run_config *out_config)
{
    struct run_config config = {.path = path};

    TAPML_TRY(ini_survey(path, tell, problems, &config.ini));
    keys_check(&config.ini, problems);
    read_all(&config, problems);
    tapml_status status = check_plan(&config, problems);

    if (status == TAPML_OK) {
        status = text_status(&problems->text);
    }
    if (status != TAPML_OK) {
        ini_release(&config.ini);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}

tapml_status run_config_load(const char *path, struct run_config *out_config)
{
    struct problems problems;
    struct run_config config = {.path = path};

    problems_init(&problems);
    tapml_status status = run_config_survey(path, &problems, &config);

    if (status == TAPML_OK) {
        status = problems_status(&problems);
    }
    problems_release(&problems);
    if (status != TAPML_OK) {
        run_config_release(&config);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}

void run_config_release(struct run_config *config)
{
    ini_release(&config->ini);
}

const char *run_config_weights(const struct run_config *config)
{
    static const char *const words[] = {
        [RUN_CONFIG_STORED] = "stored", [RUN_CONFIG_Q8_0] = "q8_0", [RUN_CONFIG_Q4_0] = "q4_0"};

    return words[config->weights];
}

struct model_options run_config_model(const struct run_config *config)
{
    return (struct model_options){
        .folder = config->model,
        .architecture = config->architecture,
        .allow_unknown_keys = config->allow_unknown_keys,
        .encoding = encoding_find_word(run_config_weights(config)),
    };
}

size_t run_config_room(const struct run_config *config)
{
    const int64_t room = config->capacity - config->decode;

    return room > 0 ? (size_t)room : 1; // The last token is decoded and not fed.
}

size_t
run_config_faults(const struct run_config *config, const char *target, struct fault_rule *out_rules)
{
    size_t count = 0;

    for (size_t i = 0; i < config->fault_count; i++) {
        if (strcmp(config->faults[i].target, target) == 0) {
            out_rules[count++] = config->faults[i].rule;
        }
    }
    return count;
}
