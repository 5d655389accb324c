// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/run_file.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "config/key_reader.h"
#include "config/keys.h"
#include "remote/address.h"

#include <string.h>

enum { FIGURES_BYTES_MAX = 1 << 20, PLACE_TEXT = 64 };

// -- Targets and faults ------------------------------------------------------------------------

static int begins(const char *section, const char *group)
{
    return strncmp(section, group, strlen(group)) == 0 && section[strlen(group)] != '\0';
}

// What can stand in plans, names of files and links.
static int is_legal(const char *name)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    return name[strspn(name, legal)] == '\0';
}

// Whether a section of which `count` are read already, of `max`, has a place too.
static int has_room(const struct ini *ini,
                    size_t index,
                    const char *what,
                    size_t count,
                    int max,
                    struct problems *problems)
{
    if (count < (size_t)max) {
        return 1;
    }
    problems_add(problems, "%s:%u: expected at most %d %s, found [%s] too", ini->name,
                 ini->section_lines[index], max, what, ini->sections[index]);
    return 0;
}

static void refuse_address(const struct run_config *config,
                           const char *section,
                           const char *key,
                           tapml_status status,
                           struct problems *problems)
{
    if (status != TAPML_OK) {
        problems_refuse(problems, &config->ini, section, key, "%s", status_message());
    }
}

// Where a target on another machine is.
static void check_address(const struct run_config *config,
                          const char *section,
                          const struct place_isolation *isolation,
                          struct problems *problems)
{
    struct address address;

    if (isolation->url != NULL && isolation->listen != NULL) {
        problems_refuse(problems, &config->ini, section, "listen",
                        "expected either 'url', of a worker that listens, or 'listen', for one "
                        "that dials");
        return;
    }
    if (isolation->url != NULL) {
        refuse_address(config, section, "url", address_parse_url(isolation->url, &address),
                       problems);
    }
    if (isolation->listen != NULL) {
        refuse_address(config, section, "listen", address_parse(isolation->listen, &address),
                       problems);
    }
}

// What a place costs (run_config_rate).
static void
check_rate(const struct run_config *config, const char *section, struct problems *problems)
{
    const char *text = ini_get(&config->ini, section, "rate");
    struct rate rate;

    if (text != NULL && rate_read(text, &rate) != TAPML_OK) {
        problems_refuse(problems, &config->ini, section, "rate", "%s", status_message());
    }
}

static void read_pool(struct run_config *config, size_t index, struct problems *problems)
{
    const char *section = config->ini.sections[index];
    struct device_pool pool = {.name = section + strlen("pool.")};

    if (!has_room(&config->ini, index, "pools", config->pool_count, RUN_CONFIG_POOLS_MAX,
                  problems)) {
        return;
    }
    if (!is_legal(pool.name)) {
        problems_add(problems,
                     "%s:%u: '%s' cannot be the name of a pool: expected letters, digits, '_' and "
                     "'-'",
                     config->ini.name, config->ini.section_lines[index], pool.name);
    }
    key_reader_read(keys_table(), &config->ini, section, &pool, problems);
    problems_take(problems, device_pool_settle(&pool, &config->ini, problems));
    config->pools[config->pool_count++] = pool;
}

// The pool of the `index`th target, whose first member's device it has at first.
static void settle_pool(struct run_config *config, size_t index, struct problems *problems)
{
    struct place_settings *target = &config->targets[index];
    const struct device_pool *pool = run_config_pool(config, index);
    char section[PLACE_TEXT];

    (void)snprintf(section, sizeof(section), "target.%.50s", target->name);
    if (target->pool == NULL && target->is_split) {
        problems_refuse(problems, &config->ini, section, "share",
                        "expected 'pool' beside it, whose members share the cases, found none");
    }
    if (target->is_split && config->select_budget != NULL) {
        problems_refuse(problems, &config->ini, section, "share",
                        "expected no [select] beside it, found a budget");
    }
    if (target->is_split && config->is_coordinated) {
        problems_refuse(problems, &config->ini, section, "share",
                        "expected no [run] coordinate beside it, found 'cost'");
    }
    if (target->pool != NULL && pool == NULL) {
        problems_refuse(problems, &config->ini, section, "pool",
                        "expected the NAME of a section [pool.NAME], found '%s'", target->pool);
    }
    if (pool == NULL || pool->count == 0) {
        return;
    }
    if (target->isolation.listen != NULL || (target->isolation.url != NULL)) {
        problems_refuse(problems, &config->ini, section, "pool",
                        "expected no 'url' and no 'listen' beside it: its members have devices");
    }
    if (pool->processes > 0 && !target->is_split) {
        problems_refuse(problems, &config->ini, section, "pool",
                        "expected share = split: [pool.%s] has processes of one device",
                        pool->name);
    }
    *target = device_pool_member(pool, target, 0);
}

static void read_target(struct run_config *config, size_t index, struct problems *problems)
{
    const char *section = config->ini.sections[index];
    const char *name = section + strlen("target.");
    struct place_settings target = {.name = name};

    if (!has_room(&config->ini, index, "targets", config->target_count, RUN_CONFIG_TARGETS_MAX,
                  problems)) {
        return;
    }
    if (strcmp(name, "source") == 0 || !is_legal(name)) {
        problems_add(
            problems,
            "%s:%u: '%s' cannot be the name of a target: expected letters, digits, '_' and "
            "'-', and not 'source', which plans use",
            config->ini.name, config->ini.section_lines[index], name);
    }
    key_reader_read(keys_table(), &config->ini, section, &target, problems);
    check_address(config, section, &target.isolation, problems);
    check_rate(config, section, problems);
    if (target.ring_text != NULL && ring_plan_read(target.ring_text, &target.ring) != TAPML_OK) {
        problems_refuse(problems, &config->ini, section, "ring", "%s", status_message());
    }
    config->targets[config->target_count++] = target;
}

static void check_fault_target(const struct run_config *config,
                               const char *section,
                               const char *target,
                               struct problems *problems)
{
    const char *near = run_config_nearest_target(config, target);

    if (run_config_has_target(config, target)) {
        return;
    }
    problems_refuse(problems, &config->ini, section, "target",
                    "expected the name of a target, found '%s'%s%s%s", target,
                    near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                    near != NULL ? "'?" : "");
}

// Kinds that end the process are for targets that have one of their own.
static void check_fault_place(const struct run_config *config,
                              const struct run_config_fault *fault,
                              struct problems *problems)
{
    for (size_t i = 0; i < config->target_count && fault_rule_needs_worker(&fault->rule); i++) {
        if (strcmp(config->targets[i].name, fault->target) == 0 &&
            !place_isolation_is_far(&config->targets[i].isolation) &&
            config->targets[i].isolation.mode != PLACE_ISOLATION_ALWAYS) {
            problems_refuse(problems, &config->ini, fault->rule.name, "kind",
                            "'%s' ends the process: expected isolation = always in [target.%s]",
                            fault->rule.words, fault->target);
        }
    }
}

static void read_fault(struct run_config *config, size_t index, struct problems *problems)
{
    const char *section = config->ini.sections[index];
    struct run_config_fault fault = {.rule = {.name = section}};

    if (!has_room(&config->ini, index, "faults", config->fault_count, RUN_CONFIG_FAULTS_MAX,
                  problems)) {
        return;
    }
    key_reader_read(keys_table(), &config->ini, section, &fault, problems);
    if (fault.target != NULL) {
        check_fault_target(config, section, fault.target, problems);
    }
    if (fault.rule.words != NULL && fault_rule_parse(&fault.rule) != TAPML_OK) {
        problems_refuse(problems, &config->ini, section, "kind", "%s", status_message());
    } else if (fault.rule.words != NULL && fault.target != NULL) {
        check_fault_place(config, &fault, problems);
    }
    config->faults[config->fault_count++] = fault;
}

// -- Groups ------------------------------------------------------------------------------------

// What can stand in the name of an op.
static int is_word(const char *name)
{
    return is_legal(name) && strchr(name, '-') == NULL;
}

static void read_group(struct run_config *config, size_t index, struct problems *problems)
{
    const char *section = config->ini.sections[index];
    struct group_rule group = {.name = section + strlen("group.")};

    if (!has_room(&config->ini, index, "groups", config->group_count, RUN_CONFIG_GROUPS_MAX,
                  problems)) {
        return;
    }
    if (!is_word(group.name)) {
        problems_add(problems,
                     "%s:%u: '%s' cannot be the name of a group: expected letters, digits and '_'",
                     config->ini.name, config->ini.section_lines[index], group.name);
    }
    key_reader_read(keys_table(), &config->ini, section, &group, problems);
    if ((group.ops == NULL) == (group.below == NULL)) {
        problems_add(problems, "%s:%u: [%s] expected one of 'ops' and 'below', found %s",
                     config->ini.name, config->ini.section_lines[index], section,
                     group.ops == NULL ? "none" : "both");
    }
    config->groups[config->group_count++] = group;
}

// -- Forecasts ---------------------------------------------------------------------------------

static tapml_status read_figures(struct run_config_forecast *forecast)
{
    size_t size = 0;

    TAPML_TRY(file_read(forecast->path, FIGURES_BYTES_MAX, &forecast->figures, &size));
    return device_file_parse(forecast->path, forecast->figures, size, &forecast->device);
}

static void read_forecast(struct run_config *config, size_t index, struct problems *problems)
{
    const char *section = config->ini.sections[index];
    struct run_config_forecast forecast = {.name = section + strlen("forecast.")};

    if (!has_room(&config->ini, index, "forecasts", config->forecast_count,
                  RUN_CONFIG_FORECASTS_MAX, problems)) {
        return;
    }
    if (!is_legal(forecast.name)) {
        problems_add(problems,
                     "%s:%u: '%s' cannot be the name of a forecast: expected letters, digits, '_' "
                     "and '-'",
                     config->ini.name, config->ini.section_lines[index], forecast.name);
    }
    key_reader_read(keys_table(), &config->ini, section, &forecast, problems);
    if (forecast.path != NULL && read_figures(&forecast) != TAPML_OK) {
        problems_refuse(problems, &config->ini, section, "device", "%s", status_message());
    }
    config->forecasts[config->forecast_count++] = forecast;
}

// -- Values ------------------------------------------------------------------------------------

// Whether a number of [run] is what the file says, or 1 where the file says nothing.
static int is_sound(const struct ini *ini, const char *key, int64_t number)
{
    const char *value = ini_get(ini, "run", key);
    int64_t said = 0;

    return value == NULL || (text_parse_i64(value, &said) == TAPML_OK && said == number);
}

// What two keys of [run] say of each other. A chunk that the file does not name follows the
// capacity.
static void settle_lengths(struct run_config *config, struct problems *problems)
{
    const struct ini *ini = &config->ini;
    const long long capacity = config->capacity;

    if (!is_sound(ini, "decode", config->decode) || !is_sound(ini, "capacity", capacity)) {
        return;
    }
    if (config->decode > capacity && ini_find(ini, "run", "decode") != NULL) {
        problems_refuse(problems, ini, "run", "decode",
                        "expected at most the capacity, %lld, found %lld", capacity,
                        (long long)config->decode);
    } else if (config->decode > capacity) {
        problems_refuse(problems, ini, "run", "capacity",
                        "expected at least 'decode', which is %lld where it is absent, found %lld",
                        (long long)config->decode, capacity);
    }
    if (config->chunk > capacity && ini_find(ini, "run", "chunk") != NULL) {
        problems_refuse(problems, ini, "run", "chunk",
                        "expected at most the capacity, %lld, found %lld", capacity,
                        (long long)config->chunk);
    }
    config->chunk = config->chunk < capacity ? config->chunk : capacity;
}

static void check_shared(const struct run_config *config, struct problems *problems)
{
    struct address address;

    if (config->shared != NULL && strstr(config->shared, "://") != NULL) {
        refuse_address(config, "source", "shared", address_parse_url(config->shared, &address),
                       problems);
    }
    if (config->shared != NULL && (config->store != NULL || config->source_workers > 1)) {
        problems_refuse(problems, &config->ini, "source", "shared", "expected no '%s' beside it",
                        config->store != NULL ? "store" : "workers");
    }
}

static void read_budget(struct run_config *config, struct problems *problems)
{
    if (config->select_budget != NULL &&
        budget_read(config->select_budget, &config->choice.budget) != TAPML_OK) {
        problems_refuse(problems, &config->ini, "select", "budget", "%s", status_message());
    }
    if (config->is_coordinated && config->select_budget != NULL) {
        problems_refuse(problems, &config->ini, "run", "coordinate",
                        "expected no [select] beside it, found a budget");
    }
    if (config->select_policy != NULL && config->select_budget == NULL) {
        problems_refuse(problems, &config->ini, "select", "policy",
                        "expected 'budget' beside it, within which '%s' chooses, found none",
                        config->select_policy);
    }
}

// A word that is no order of the host is a component.
static void read_order(struct run_config *config)
{
    static const enum choice_order orders[] = {CHOICE_AUTO, CHOICE_CARVED, CHOICE_BALANCE,
                                               CHOICE_COVER};

    for (size_t i = 0; config->order_policy != NULL && i < sizeof(orders) / sizeof(*orders); i++) {
        if (strcmp(config->order_policy, choice_order_name(orders[i])) == 0) {
            config->choice.order = orders[i];
            config->order_policy = NULL;
        }
    }
}

static void read_watch(struct run_config *config, struct problems *problems)
{
    struct watch_settings *watch = &config->watch;

    if (watch_settings_read(watch->triggers, watch) != TAPML_OK) {
        problems_refuse(problems, &config->ini, "watch", "triggers", "%s", status_message());
    }
    if (watch->budget_text != NULL && budget_read(watch->budget_text, &watch->budget) != TAPML_OK) {
        problems_refuse(problems, &config->ini, "watch", "budget", "%s", status_message());
    }
}

static void read_check(struct run_config *config, struct problems *problems)
{
    struct invariance_settings *settings = &config->invariance;

    if (config->invariance_text != NULL &&
        invariance_axis_read(config->invariance_text, settings) != TAPML_OK) {
        problems_refuse(problems, &config->ini, "check", "invariance", "%s", status_message());
    }
    if (config->stress_text != NULL &&
        invariance_axis_read_stress(config->stress_text, settings) != TAPML_OK) {
        problems_refuse(problems, &config->ini, "check", "stress", "%s", status_message());
    }
}

// Each place of a mesh is the source or a target.
static void check_mesh(const struct run_config *config, struct problems *problems)
{
    static const char blanks[] = " \t";
    const char *at = config->sharding.mesh;

    while (at != NULL && *(at += strspn(at, blanks)) != '\0') {
        const int length = (int)strcspn(at, blanks);
        char name[PLACE_TEXT];

        (void)snprintf(name, sizeof(name), "%.*s", length, at);
        if (strcmp(name, "source") != 0 && !run_config_has_target(config, name)) {
            const char *near = run_config_nearest_target(config, name);

            problems_refuse(problems, &config->ini, "shard", "mesh",
                            "expected 'source' and names of targets, found '%s'%s%s%s", name,
                            near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                            near != NULL ? "'?" : "");
        }
        at += length;
    }
}

// Behind [check] and the targets.
static void read_shard(struct run_config *config, struct problems *problems)
{
    if (!ini_has_section(&config->ini, "shard")) {
        return;
    }
    key_reader_read(keys_table(), &config->ini, "shard", config, problems);
    if ((config->invariance.axes & 1U << INVARIANCE_PARTS) == 0) {
        problems_refuse(problems, &config->ini, "shard", "mesh",
                        "expected 'parts' among [check] invariance, which divides the model so");
    }
    check_mesh(config, problems);
}

// Whether a key has a meaning where no model is run.
static int is_of_cases(const struct ini_entry *entry)
{
    static const char *const keys[][2] = {
        {"run", "dir"},       {"run", "comparers"}, {"model", "path"},  {"source", "store"},
        {"select", "budget"}, {"select", "policy"}, {"order", "policy"}};
    static const char *const others[] = {"target.", "pool.", "component.", "fault.",
                                         "plugins", "check", "watch"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (strcmp(entry->section, keys[i][0]) == 0 && strcmp(entry->key, keys[i][1]) == 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (strncmp(entry->section, others[i], strlen(others[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

// Beside [source] store a key of what runs a model would be ignored, and without a target nothing
// would be done.
static void check_cases(const struct run_config *config, struct problems *problems)
{
    const struct ini *ini = &config->ini;

    for (size_t i = 0; config->store != NULL && i < ini->count; i++) {
        const struct ini_entry *entry = &ini->entries[i];

        if (keys_find(entry->section, entry->key) != NULL && !is_of_cases(entry)) {
            problems_add(problems,
                         "%s:%u: '%s' in [%s] means nothing beside 'store' in [source]: no model "
                         "is run",
                         ini->name, entry->line, entry->key, entry->section);
        }
    }
    if (config->store != NULL && config->target_count == 0) {
        problems_refuse(problems, ini, "source", "store",
                        "expected a section [target.NAME], on which the cases are replayed, found "
                        "none");
    }
}

static void read_all(struct run_config *config, struct problems *problems)
{
    static const char *const single[] = {"run",    "model", "source", "offload",
                                         "select", "order", "check",  "watch"};
    const struct ini *ini = &config->ini;

    for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++) {
        key_reader_read(keys_table(), ini, single[i], config, problems);
    }
    settle_lengths(config, problems);
    check_shared(config, problems);
    read_budget(config, problems);
    read_order(config);
    read_check(config, problems);
    read_watch(config, problems);
    check_rate(config, "source", problems);
    for (size_t i = 0; i < ini->section_count; i++) {
        if (begins(ini->sections[i], "target.")) {
            read_target(config, i, problems);
        } else if (begins(ini->sections[i], "pool.")) {
            read_pool(config, i, problems);
        }
    }
    for (size_t i = 0; i < config->target_count; i++) {
        settle_pool(config, i, problems);
    }
    read_shard(config, problems);
    check_cases(config, problems);
    for (size_t i = 0; i < ini->section_count; i++) {
        if (begins(ini->sections[i], "fault.")) {
            read_fault(config, i, problems);
        } else if (begins(ini->sections[i], "group.")) {
            read_group(config, i, problems);
        } else if (begins(ini->sections[i], "forecast.")) {
            read_forecast(config, i, problems);
        }
    }
}

// Gives each target its faults, in the order of the file.
static tapml_status share_faults(struct run_config *config)
{
    size_t count = 0;

    config->rules = alloc_array(config->fault_count + 1, sizeof(*config->rules));
    if (config->rules == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < config->target_count; i++) {
        struct place_settings *target = &config->targets[i];

        target->faults = &config->rules[count];
        for (size_t k = 0; k < config->fault_count; k++) {
            if (config->faults[k].target != NULL &&
                strcmp(config->faults[k].target, target->name) == 0) {
                config->rules[count++] = config->faults[k].rule;
            }
        }
        target->fault_count = (size_t)(&config->rules[count] - target->faults);
    }
    return TAPML_OK;
}

// -- Reading -----------------------------------------------------------------------------------

static void add_problem(void *user, const char *sentence)
{
    problems_add(user, "%s", sentence);
}

tapml_status
run_file_survey(const char *path, struct problems *problems, struct run_config *out_config)
{
    struct run_config config = {.path = path, .source.name = "source"};

    TAPML_TRY(ini_survey(path, add_problem, problems, &config.ini));
    key_reader_check(keys_table(), &config.ini, problems);
    read_all(&config, problems);
    tapml_status status = run_config_check_plan(&config, problems);

    if (status == TAPML_OK) {
        status = text_status(&problems->text);
    }
    if (status == TAPML_OK) {
        status = share_faults(&config);
    }
    if (status != TAPML_OK) {
        run_config_release(&config);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}

tapml_status run_file_load(const char *path, struct run_config *out_config)
{
    struct problems problems;
    struct run_config config = {.path = path};

    problems_init(&problems);
    tapml_status status = run_file_survey(path, &problems, &config);

    if (status == TAPML_OK) {
        status = problems_status(&problems, "--check-config");
    }
    problems_release(&problems);
    if (status != TAPML_OK) {
        run_config_release(&config);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}
