// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "host/facts.h"

#include "base/text.h"
#include "carve/ledger.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A fact that may not change between two starts of a run.
static tapml_status settle(struct store *store, const char *name, const char *value)
{
    const char *known = store_fact(store, name);

    if (known == NULL) {
        return store_set_fact(store, name, value);
    }
    if (strcmp(known, value) != 0) {
        return status_fail(
            TAPML_PRECONDITION,
            "'%s' holds a run with another %s: '%s', now '%s'; name another 'dir' or "
            "remove this one",
            store_path(store), name, known, value);
    }
    return TAPML_OK;
}

static tapml_status settle_hash(struct store *store, const char *name, struct hash hash)
{
    char text[HASH_TEXT];

    hash_text(hash, text);
    return settle(store, name, text);
}

static tapml_status settle_number(struct store *store, const char *name, int64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRId64, value);
    return settle(store, name, text);
}

static tapml_status hash_prompts(const struct prompts *prompts, struct hash *out_hash)
{
    struct hash_state *state = hash_begin();

    if (state == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < prompts->count; i++) {
        hash_add(state, &prompts->items[i].id, sizeof(prompts->items[i].id));
    }
    *out_hash = hash_end(state);
    return TAPML_OK;
}

// Where the model is may change; what it is may not.
static tapml_status write_model_path(struct store *store, const char *folder)
{
    char *path = realpath(folder, NULL);
    const tapml_status status = store_set_fact(store, "model.path", path != NULL ? path : folder);

    free(path);
    return status;
}

static tapml_status write_targets(struct store *store, const struct run_config *config)
{
    struct text names;
    tapml_status status = TAPML_OK;

    text_init(&names);
    for (size_t i = 0; i < config->target_count && status == TAPML_OK; i++) {
        char key[128];

        (void)snprintf(key, sizeof(key), "target.%s", config->targets[i].name);
        text_format(&names, "%s%s", i > 0 ? " " : "", config->targets[i].name);
        status = store_set_fact(store, key, config->targets[i].backend);
    }
    if (status == TAPML_OK) {
        status = text_status(&names);
    }
    if (status == TAPML_OK) {
        status = store_set_fact(store, "targets", names.data);
    }
    text_release(&names);
    return status;
}

tapml_status facts_settle(struct store *store,
                          const struct run_config *config,
                          const struct setup *setup,
                          const struct prompts *prompts)
{
    struct hash hash;

    TAPML_TRY(hash_prompts(prompts, &hash));
    TAPML_TRY(settle_hash(store, "model.hash", model_hash(setup->model)));
    TAPML_TRY(settle_hash(store, "prompts.hash", hash));
    TAPML_TRY(settle_number(store, "decode", config->decode));
    TAPML_TRY(settle_number(store, "capacity", config->capacity));
    TAPML_TRY(settle_number(store, "chunk", config->chunk));
    TAPML_TRY(settle(store, "keep", config->keep_all ? "all" : "first"));
    TAPML_TRY(settle(store, "source", config->source));
    TAPML_TRY(write_model_path(store, config->model));
    return write_targets(store, config);
}

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

// The faults that are planted on a target, one after the other.
static void append_faults(struct text *text, const struct run_config *config, const char *target)
{
    for (size_t i = 0; i < config->fault_count; i++) {
        if (strcmp(config->faults[i].target, target) == 0) {
            text_append(text, text->length > 0 ? "; " : "");
            fault_print(&config->faults[i].rule, text);
        }
    }
}

// A target that never had any needs no such fact.
static tapml_status
write_faults(struct store *store, const struct run_config *config, const char *target)
{
    char key[128];
    struct text faults;

    (void)snprintf(key, sizeof(key), "target.%s.faults", target);
    text_init(&faults);
    append_faults(&faults, config, target);
    tapml_status status = text_status(&faults);

    if (status == TAPML_OK && (faults.length > 0 || store_fact(store, key) != NULL)) {
        status = store_set_fact(store, key, faults.data);
    }
    text_release(&faults);
    return status;
}

tapml_status facts_settle_target(struct store *store,
                                 const struct run_config *config,
                                 const struct setup *setup,
                                 uint32_t index)
{
    const struct backend_info *info = backend_info(setup->backends[index]);
    const char *target = setup->places[index];
    char key[128];
    struct text text;

    (void)snprintf(key, sizeof(key), "target.%s.build", target);
    text_init(&text);
    text_format(&text, "%s %s %s %s:%s %s", info->plugin, info->plugin_version, info->build_id,
                info->component, info->device, info->driver);
    append_options(&text, config, info->component);
    append_faults(&text, config, target);
    tapml_status status = text_status(&text);
    const char *known = store_fact(store, key);

    if (status == TAPML_OK && known != NULL && strcmp(known, text.data) != 0) {
        status = verdict_forget(store, target);
        if (status == TAPML_OK) {
            status = ledger_forget(store, target);
        }
    }
    if (status == TAPML_OK) {
        status = store_set_fact(store, key, text.data);
    }
    text_release(&text);
    return status == TAPML_OK ? write_faults(store, config, target) : status;
}
