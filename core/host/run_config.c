// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "host/run_config.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// A section's keys; a name that ends in '.' stands for all sections that begin so.
struct section {
    const char *name;
    const char *const *keys; // Ended by NULL; NULL: any, somebody else checks them.
};

static const char *const run_keys[] = {"dir",   "prompts", "decode", "capacity",
                                       "chunk", "keep",    NULL};
static const char *const model_keys[] = {"path", "architecture", "unknown-keys", NULL};
static const char *const source_keys[] = {"backend", "isolation", NULL};
static const char *const target_keys[] = {"backend", "isolation", "require", "guard", NULL};
static const char *const offload_keys[] = {"prompts", "mode", NULL};
static const char *const plan_keys[] = {"rule", NULL};
static const char *const fault_keys[] = {"target",    "op",          "instance", "kind",
                                         "from-call", "probability", "seed",     NULL};
static const char *const plugins_keys[] = {"load", "tiers", "allow", "deny", NULL};

static const struct section sections[] = {
    {"run", run_keys},        {"model", model_keys},  {"source", source_keys},
    {"target.", target_keys}, {"component.", NULL},   {"offload", offload_keys},
    {"plan", plan_keys},      {"fault.", fault_keys}, {"plugins", plugins_keys},
};
static const char *const section_names[] = {"run",          "model",   "source", "target.NAME",
                                            "component.ID", "offload", "plan",   "fault.N",
                                            "plugins",      NULL};

// -- Names -------------------------------------------------------------------------------------

static const struct section *find_section(const char *name)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        const size_t length = strlen(sections[i].name);
        const int is_group = sections[i].name[length - 1] == '.';

        if (is_group ? strncmp(name, sections[i].name, length) == 0 && name[length] != '\0'
                     : strcmp(name, sections[i].name) == 0) {
            return &sections[i];
        }
    }
    return NULL;
}

static tapml_status refuse_name(
    const struct ini *ini, unsigned line, const char *kind, const char *word, const char *near)
{
    return near != NULL
               ? status_fail(TAPML_INVALID, "%s:%u: unknown %s '%s', did you mean '%s'?", ini->name,
                             line, kind, word, near)
               : status_fail(TAPML_INVALID, "%s:%u: unknown %s '%s'", ini->name, line, kind, word);
}

static tapml_status check_names(const struct ini *ini)
{
    for (size_t i = 0; i < ini->section_count; i++) {
        if (find_section(ini->sections[i]) == NULL) {
            unsigned line = 0;

            for (size_t k = 0; k < ini->count && line == 0; k++) {
                line = strcmp(ini->entries[k].section, ini->sections[i]) == 0 ? ini->entries[k].line
                                                                              : 0;
            }
            return refuse_name(ini, line, "section", ini->sections[i],
                               text_nearest(ini->sections[i], section_names));
        }
    }
    for (size_t i = 0; i < ini->count; i++) {
        const struct ini_entry *entry = &ini->entries[i];
        const struct section *section = find_section(entry->section);
        int known = section == NULL || section->keys == NULL;

        for (size_t k = 0; !known && section->keys[k] != NULL; k++) {
            known = strcmp(section->keys[k], entry->key) == 0;
        }
        if (!known) {
            return refuse_name(ini, entry->line, "key", entry->key,
                               text_nearest(entry->key, section->keys));
        }
    }
    return TAPML_OK;
}

// -- Values ------------------------------------------------------------------------------------

static tapml_status
need(const struct ini *ini, const char *section, const char *key, const char **out)
{
    *out = ini_get(ini, section, key);
    return *out != NULL && **out != '\0'
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: [%s] has no '%s'", ini->name, section, key);
}

struct range {
    int64_t fallback, low, high;
};

static tapml_status number(
    const struct ini *ini, const char *section, const char *key, struct range range, int64_t *out)
{
    const char *word = ini_get(ini, section, key);
    int64_t value = range.fallback;

    if (word != NULL &&
        (text_parse_i64(word, &value) != TAPML_OK || value < range.low || value > range.high)) {
        return status_fail(TAPML_INVALID,
                           "%s: [%s] %s is '%s', expected a whole number from %" PRId64
                           " to %" PRId64,
                           ini->name, section, key, word, range.low, range.high);
    }
    *out = value;
    return TAPML_OK;
}

// A key with two words: whether it is the second one.
static tapml_status choice(const struct ini *ini,
                           const char *section,
                           const char *key,
                           const char *const words[2],
                           int *out_second)
{
    const char *word = ini_get(ini, section, key);

    if (word != NULL && strcmp(word, words[0]) != 0 && strcmp(word, words[1]) != 0) {
        return status_fail(TAPML_INVALID, "%s: [%s] %s is '%s', expected '%s' or '%s'", ini->name,
                           section, key, word, words[0], words[1]);
    }
    *out_second = word != NULL && strcmp(word, words[1]) == 0;
    return TAPML_OK;
}

static tapml_status check_isolation(const struct ini *ini, const char *section)
{
    const char *word = ini_get(ini, section, "isolation");

    return word == NULL || strcmp(word, "never") == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: [%s] isolation is '%s'; this version runs everything in one "
                             "process and knows 'never' only",
                             ini->name, section, word);
}

static tapml_status read_target(struct run_config *config, const char *section)
{
    const char *name = section + strlen("target.");
    struct run_config_target *target = &config->targets[config->target_count];

    if (config->target_count == RUN_CONFIG_TARGETS_MAX) {
        return status_fail(TAPML_INVALID, "%s: more than %d targets", config->ini.name,
                           RUN_CONFIG_TARGETS_MAX);
    }
    if (strcmp(name, "source") == 0 || strpbrk(name, "/ \t#*?[]=") != NULL) {
        return status_fail(TAPML_INVALID,
                           "%s: '%s' cannot be the name of a target, which plans and files use",
                           config->ini.name, name);
    }
    target->name = name;
    TAPML_TRY(need(&config->ini, section, "backend", &target->backend));
    TAPML_TRY(check_isolation(&config->ini, section));
    TAPML_TRY(choice(&config->ini, section, "require", (const char *const[2]){"any", "all"},
                     &target->require_all));
    TAPML_TRY(choice(&config->ini, section, "guard", (const char *const[2]){"off", "on"},
                     &target->is_guarded));
    config->target_count++;
    return TAPML_OK;
}

static const char *word(const struct ini *ini, const char *section, const char *key)
{
    const char *value = ini_get(ini, section, key);

    return value != NULL && *value != '\0' ? value : "*";
}

static tapml_status read_probability(const struct ini *ini, const char *section, double *out)
{
    const char *value = ini_get(ini, section, "probability");

    *out = 1;
    return value == NULL || (text_parse_f64(value, out) == TAPML_OK && *out > 0 && *out <= 1)
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: [%s] probability is '%s', expected a number above 0, at most 1",
                             ini->name, section, value);
}

static tapml_status check_fault_target(const struct run_config *config, const char *section)
{
    const char *names[RUN_CONFIG_TARGETS_MAX + 1] = {NULL};
    const char *target = config->faults[config->fault_count].target;

    for (size_t i = 0; i < config->target_count; i++) {
        names[i] = config->targets[i].name;
        if (strcmp(names[i], target) == 0) {
            return TAPML_OK;
        }
    }
    const char *near = text_nearest(target, names);

    return status_fail(TAPML_INVALID, "%s: [%s] target is '%s', and there is no [target.%s]%s%s%s",
                       config->ini.name, section, target, target,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
}

static tapml_status read_fault(struct run_config *config, const char *section)
{
    const struct ini *ini = &config->ini;
    struct run_config_fault *fault = &config->faults[config->fault_count];
    struct fault_rule *rule = &fault->rule;
    int64_t seed = 0;

    if (config->fault_count == RUN_CONFIG_FAULTS_MAX) {
        return status_fail(TAPML_INVALID, "%s: more than %d faults", ini->name,
                           RUN_CONFIG_FAULTS_MAX);
    }
    rule->name = section;
    rule->op = word(ini, section, "op");
    rule->instance = word(ini, section, "instance");
    TAPML_TRY(need(ini, section, "target", &fault->target));
    TAPML_TRY(check_fault_target(config, section));
    TAPML_TRY(need(ini, section, "kind", &rule->words));
    const tapml_status status = fault_parse(rule);

    if (status != TAPML_OK) {
        return status_explain(status, "%s: [%s]", ini->name, section);
    }
    TAPML_TRY(number(ini, section, "from-call", (struct range){1, 1, 1 << 30}, &rule->from_call));
    TAPML_TRY(number(ini, section, "seed", (struct range){1, 0, INT64_MAX}, &seed));
    rule->seed = (uint64_t)seed;
    config->fault_count++;
    return read_probability(ini, section, &rule->probability);
}

static tapml_status read_run(struct run_config *config)
{
    const struct ini *ini = &config->ini;
    const int64_t most = 1 << 24;

    TAPML_TRY(need(ini, "run", "dir", &config->dir));
    TAPML_TRY(need(ini, "run", "prompts", &config->prompts));
    TAPML_TRY(number(ini, "run", "decode", (struct range){32, 0, most}, &config->decode));
    TAPML_TRY(number(ini, "run", "capacity", (struct range){256, 1, most}, &config->capacity));
    const struct range chunk = {config->capacity < 128 ? config->capacity : 128, 1, most};

    TAPML_TRY(number(ini, "run", "chunk", chunk, &config->chunk));
    return choice(ini, "run", "keep", (const char *const[2]){"first", "all"}, &config->keep_all);
}

static tapml_status read_mode(const struct ini *ini, enum loop_mode *out_mode)
{
    static const char *const words[] = {
        [LOOP_MIXED] = "mixed", [LOOP_SHADOW] = "shadow", [LOOP_CUMULATIVE] = "cumulative", NULL};
    const char *word = ini_get(ini, "offload", "mode");
    int mode = LOOP_MIXED;

    while (word != NULL && words[mode] != NULL && strcmp(words[mode], word) != 0) {
        mode++;
    }
    if (words[mode] == NULL) {
        return status_fail(TAPML_INVALID,
                           "%s: [offload] mode is '%s', expected 'mixed', 'shadow' or 'cumulative'",
                           ini->name, word);
    }
    *out_mode = (enum loop_mode)mode;
    return TAPML_OK;
}

static tapml_status read_values(struct run_config *config)
{
    const struct ini *ini = &config->ini;

    TAPML_TRY(read_run(config));
    TAPML_TRY(need(ini, "model", "path", &config->model));
    config->architecture = ini_get(ini, "model", "architecture");
    TAPML_TRY(choice(ini, "model", "unknown-keys", (const char *const[2]){"refuse", "allow"},
                     &config->allow_unknown_keys));
    TAPML_TRY(need(ini, "source", "backend", &config->source));
    TAPML_TRY(check_isolation(ini, "source"));
    TAPML_TRY(
        number(ini, "offload", "prompts", (struct range){8, 1, 1 << 24}, &config->offload_prompts));
    TAPML_TRY(read_mode(ini, &config->mode));
    for (size_t i = 0; i < ini->section_count; i++) {
        if (strncmp(ini->sections[i], "target.", strlen("target.")) == 0) {
            TAPML_TRY(read_target(config, ini->sections[i]));
        }
    }
    for (size_t i = 0; i < ini->section_count; i++) {
        if (strncmp(ini->sections[i], "fault.", strlen("fault.")) == 0) {
            TAPML_TRY(read_fault(config, ini->sections[i]));
        }
    }
    return TAPML_OK;
}

// Every rule must name a place that the file has.
static tapml_status check_plan(const struct run_config *config)
{
    for (size_t i = 0; i < config->target_count; i++) {
        struct plan *plan = NULL;

        TAPML_TRY(run_config_goal(config, config->targets[i].name, &plan));
        plan_destroy(plan);
    }
    return TAPML_OK;
}

tapml_status run_config_load(const char *path, struct run_config *out_config)
{
    struct run_config config = {.path = path};

    TAPML_TRY(ini_load(path, &config.ini));
    tapml_status status = check_names(&config.ini);

    if (status == TAPML_OK) {
        status = read_values(&config);
    }
    if (status == TAPML_OK) {
        status = check_plan(&config);
    }
    if (status != TAPML_OK) {
        ini_release(&config.ini);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}

void run_config_release(struct run_config *config)
{
    ini_release(&config->ini);
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

// -- The plan ----------------------------------------------------------------------------------

static int is_place(const struct run_config *config, const char *place)
{
    int found = strcmp(place, "source") == 0;

    for (size_t i = 0; i < config->target_count && !found; i++) {
        found = strcmp(config->targets[i].name, place) == 0;
    }
    return found;
}

static tapml_status add_rule(const struct run_config *config,
                             const struct ini_entry *entry,
                             const char *target,
                             struct plan *plan)
{
    const char *arrow = strstr(entry->value, "->");
    char rule[256], where[256];

    (void)snprintf(where, sizeof(where), "%.200s:%u", config->ini.name, entry->line);
    if (arrow == NULL) {
        return plan_add(plan, entry->value, where); // Which says what is wrong with it.
    }
    const char *place = arrow + 2 + strspn(arrow + 2, " \t");

    if (!is_place(config, place)) {
        return status_fail(TAPML_INVALID, "%s: '%s' is neither 'source' nor a [target.%s]", where,
                           place, place);
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
