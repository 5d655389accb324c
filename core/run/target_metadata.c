// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/target_metadata.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/run_config.h"
#include "exec/ring.h"
#include "plugin/policy.h"
#include "run/forgetting.h"
#include "run/identity.h"
#include "run/run_metadata.h"
#include "run/setup.h"
#include "run/winners.h"
#include "store/carved.h"
#include "store/metadata.h"
#include "store/result.h"
#include "store/store.h"
#include "store/target.h"
#include "verify/fault_rule.h"

#include <stdio.h>
#include <string.h>

static void
append_options(struct text *text, const struct run_config *config, const char *component)
{
    char section[64];

    (void)snprintf(section, sizeof(section), "component.%s", component);
    for (size_t i = 0; i < config->ini.count; i++) {
        const struct ini_entry *entry = &config->ini.entries[i];

        if (strcmp(entry->section, section) == 0) {
            text_format(text, " %s=%s", entry->key, entry->value);
        }
    }
}

// How a target is offloaded to, where that is not the usual way: steps of another one are others.
static void append_ways(struct text *text, enum loop_mode mode, const struct place_settings *target)
{
    static const char *const modes[] = {
        [LOOP_MIXED] = "", [LOOP_SHADOW] = " mode=shadow", [LOOP_CUMULATIVE] = " mode=cumulative"};

    text_append(text, modes[mode]);
    text_append(text, target->is_guarded ? " guard=on" : "");
    if (activation_is_reduced(target->activation)) {
        text_format(text, " activations=%s", activation_type(target->activation)->name);
    }
}

static void append_choice(const struct run_config *config, struct text *text)
{
    char budget[BUDGET_TEXT];

    if (config->choice.budget.kind != BUDGET_ALL) {
        budget_print(&config->choice.budget, budget);
        text_format(text, " select=%s", budget);
        policy_print(config->choice.selector, text);
    }
}

static tapml_status forget_changed(struct store *store,
                                   const struct target_row *known,
                                   const struct target_row *now,
                                   int is_overtaken)
{
    if (*known->identity == '\0') {
        return TAPML_OK;
    }
    if (strcmp(known->identity, now->identity) != 0) {
        TAPML_TRY(forgetting_results(store, now->name));
        return forgetting_steps(store, now->name);
    }
    const int is_other =
        now->implementations != NULL && strcmp(known->implementations, now->implementations) != 0;

    return is_overtaken || is_other ? forgetting_steps(store, now->name) : TAPML_OK;
}

// Each start spends a budget in seconds anew, so that it may run more cases than the offload that
// has ended knows of.
static tapml_status
find_overtaken(const struct run_judge_options *run, const char *target, int *out_is_overtaken)
{
    struct store *store = run->store;
    struct carved_counts counts;
    size_t results = 0;

    TAPML_TRY(carved_count(store, &counts));
    TAPML_TRY(result_count(store, target, &results));
    *out_is_overtaken = run->config->choice.budget.kind == BUDGET_SECONDS && results < counts.cases;
    return TAPML_OK;
}

// `now` has no implementations if they are not compared: those that are known stay.
static tapml_status settle_identity(const struct run_judge_options *run,
                                    const struct backend_info *info,
                                    const struct target_row *now)
{
    struct store *store = run->store;
    int is_overtaken = 0;
    struct target_row row = *now;
    struct arena *arena = arena_create();
    struct target_row known;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = target_find(store, row.name, arena, &known);

    if (status == TAPML_OK) {
        status = find_overtaken(run, row.name, &is_overtaken);
    }
    if (status == TAPML_OK) {
        status = forget_changed(store, &known, now, is_overtaken);
    }
    if (row.implementations == NULL) {
        row.implementations = known.implementations;
    }
    row.component = info->component;
    row.device = info->device;
    row.device_name = info->device_name;
    row.driver = info->driver;
    row.plugin = info->plugin;
    row.plugin_version = info->plugin_version;
    row.build = info->build_id != NULL ? info->build_id : "";
    if (status == TAPML_OK) {
        status = target_describe(store, &row);
    }
    arena_destroy(arena);
    return status;
}

// A digest of all code that the steps of a target run through.
static tapml_status
print_implementations(const struct run_judge *judge, const struct place *place, struct text *out)
{
    const struct setup *setup = judge->from.setup;
    char source[HASH_TEXT] = "", target[HASH_TEXT];

    if (setup->model == NULL) {
        TAPML_TRY(identity_of_cases(place->backend, registry_catalogue(setup->registry),
                                    judge->from.store, target));
    } else {
        const struct graph *graph = model_graph(setup->model);

        TAPML_TRY(identity_of_graph(setup->places[0]->backend, graph, source));
        TAPML_TRY(identity_of_graph(place->backend, graph, target));
    }
    text_format(out, "%s %s", source, target);
    for (size_t i = 0; i < judge->device_count; i++) {
        text_format(out, " %s", judge->devices[i].identity);
    }
    // Results say for themselves which faults can have struck them (verify/makers.h).
    fault_rule_print_all(place->settings.faults, place->settings.fault_count, out);
    policy_print(judge->from.policy, out);  // Steps in another order are others,
    append_choice(judge->from.config, out); // and so are those that fewer cases came before.
    return text_status(out);
}

// Which policy orders what is moved, for the report; where nothing moves kind by kind, none is
// asked.
static tapml_status note_policy(const struct run_judge_options *run)
{
    struct store *store = run->store;
    const int is_asked = run->config->mode == LOOP_MIXED && run->setup->model != NULL;
    struct text name;

    text_init(&name);
    policy_print_name(is_asked ? run->policy : NULL, &name);
    tapml_status status = text_status(&name);

    if (status == TAPML_OK &&
        (name.length > 0 || metadata_get(store, RUN_METADATA_POLICY) != NULL)) {
        status = metadata_set(store, RUN_METADATA_POLICY, name.data);
    }
    text_release(&name);
    return status;
}

// Which settings of 'tapml-host tune' are in use, for the report.
static tapml_status note_tuning(const struct run_judge_options *run, const struct place *place)
{
    char name[128], sentence[WINNERS_TEXT];
    const char *known = NULL;

    (void)snprintf(name, sizeof(name), RUN_METADATA_TUNING "%.100s", place->settings.name);
    (void)winners_print(place, run->setup->registry, sentence);
    known = metadata_get(run->store, name);
    return sentence[0] != '\0' || (known != NULL && *known != '\0')
               ? metadata_set(run->store, name, sentence)
               : TAPML_OK;
}

static tapml_status print_identity(const struct run_judge_options *run,
                                   const struct place *place,
                                   struct text *identity)
{
    const struct backend_info *info = backend_info(place->backend);

    text_format(identity, "%s %s:%s %s", info->plugin, info->component, info->device, info->driver);
    append_options(identity, run->config, info->component);
    append_ways(identity, run->config->mode, &place->settings);
    return text_status(identity);
}

static tapml_status settle_texts(const struct run_judge_options *run,
                                 const struct place *place,
                                 const char *implementations,
                                 struct text *identity)
{
    const struct backend_info *info = backend_info(place->backend);
    struct store *store = run->store;

    TAPML_TRY(print_identity(run, place, identity));
    TAPML_TRY(store_begin(store));
    tapml_status status = settle_identity(run, info,
                                          &(struct target_row){.name = place->settings.name,
                                                               .identity = identity->data,
                                                               .implementations = implementations});

    if (status == TAPML_OK && implementations != NULL) {
        status = note_policy(run);
    }
    if (status == TAPML_OK) {
        status = note_tuning(run, place);
    }
    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status target_metadata_settle(const struct run_judge *judge, const struct place *place)
{
    struct text identity, implementations;
    text_init(&identity);
    text_init(&implementations);
    tapml_status status = print_implementations(judge, place, &implementations);

    if (status == TAPML_OK) {
        status = settle_texts(&judge->from, place, implementations.data, &identity);
    }
    text_release(&identity);
    text_release(&implementations);
    return status;
}

tapml_status target_metadata_settle_cases(const struct run_judge_options *run,
                                          const struct place *place)
{
    struct text identity;
    text_init(&identity);
    const tapml_status status = settle_texts(run, place, NULL, &identity);

    text_release(&identity);
    return status;
}

static tapml_status
compare_member(const struct target_row *known, const struct place *place, const char *identity)
{
    const char *url = place->settings.isolation.url;

    return strcmp(known->identity, identity) == 0
               ? TAPML_OK
               : status_fail(
                     TAPML_UNAVAILABLE,
                     "a member of its pool is another device%s%s: expected '%s', found '%s'",
                     url != NULL ? ", at " : "", url != NULL ? url : "", known->identity, identity);
}

tapml_status target_metadata_check_member(const struct run_judge_options *run,
                                          const struct place *place)
{
    struct arena *arena = arena_create();
    struct target_row known;
    struct text identity;

    text_init(&identity);
    tapml_status status = arena != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK) {
        status = target_find(run->store, place->settings.name, arena, &known);
    }
    if (status == TAPML_OK) {
        status = print_identity(run, place, &identity);
    }
    if (status == TAPML_OK) {
        status = compare_member(&known, place, identity.data);
    }
    text_release(&identity);
    arena_destroy(arena);
    return status;
}

tapml_status
target_metadata_note_ring(struct store *store, const struct session *session, const char *target)
{
    const struct ring *ring = session_ring(session, 1);
    char name[128];
    struct text text;

    if (ring == NULL) {
        return TAPML_OK;
    }
    const struct ring_figures figures = ring_figures(ring);

    (void)snprintf(name, sizeof(name), RUN_METADATA_RING "%.100s", target);
    text_init(&text);
    ring_describe(&figures, target, &text);
    tapml_status status = text_status(&text);

    status = status == TAPML_OK ? metadata_set(store, name, text.data) : status;
    text_release(&text);
    return status;
}
