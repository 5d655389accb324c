// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/facts.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "store/content.h"
#include "store/findings.h"
#include "store/ledger.h"
#include "store/row.h"
#include "tensor/dtype.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A key of the INI file that may not change between two starts of a run.
static tapml_status
settle(struct store *store, const char *name, const char *key, const char *value)
{
    const char *known = store_fact(store, name);

    if (known == NULL) {
        return store_set_fact(store, name, value);
    }
    if (strcmp(known, value) != 0) {
        return status_fail(TAPML_PRECONDITION,
                           "'%s' holds a run with %s = %s, now it is %s; give this one another "
                           "[run] dir, or remove that one",
                           store_path(store), key, known, value);
    }
    return TAPML_OK;
}

static tapml_status write_number(struct store *store, const char *name, int64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRId64, value);
    return store_set_fact(store, name, text);
}

static tapml_status
settle_number(struct store *store, const char *name, const char *key, int64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRId64, value);
    return settle(store, name, key, text);
}

// What the files that a key names hold, by their hash.
static tapml_status settle_files(
    struct store *store, const char *name, const char *key, const char *path, struct hash hash)
{
    char text[HASH_TEXT];

    hash_text(hash, text);
    const char *known = store_fact(store, name);

    if (known == NULL) {
        return store_set_fact(store, name, text);
    }
    if (strcmp(known, text) != 0) {
        return status_fail(TAPML_PRECONDITION,
                           "'%s' holds a run with another %s: its contents had the hash %s, and "
                           "those of '%s' have %s; give this one another [run] dir, or remove that "
                           "one",
                           store_path(store), key, known, path, text);
    }
    return TAPML_OK;
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

// The files of the weights with their sizes and times, by which a change is suspected.
static tapml_status
print_files(const char *folder, const struct checkpoint *checkpoint, struct text *out)
{
    const char *last = "";

    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const char *file = checkpoint_at(checkpoint, i)->file;
        struct stat about = {0};

        if (strcmp(file, last) == 0) {
            continue;
        }
        char *path = file_join(folder, file);
        const int is_there = path != NULL && stat(path, &about) == 0;

        alloc_free(path);
        last = file;
        if (is_there) {
            text_format(out, "%s %lld %lld.%09ld;", file, (long long)about.st_size,
                        (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
        }
    }
    return text_status(out);
}

// The model's hash takes samples of the weights alone. Where the files are others by their times,
// each weight that a case refers to is compared by its own hash, which is of all its bytes.
static tapml_status check_weights(struct store *store, const struct checkpoint *checkpoint)
{
    struct row row;
    int has = 0;

    TAPML_TRY(row_begin(store, "SELECT name, dtype, byte_count, key FROM weight ORDER BY name",
                        "reading weights", &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const struct checkpoint_tensor *weight = checkpoint_find(checkpoint, row_text(&row, 0));
        struct hash known = {0, 0}, found = {0, 1};
        tapml_status status = TAPML_OK;

        if (weight != NULL && row_hash(&row, 3, &known)) {
            const int64_t count = (int64_t)(weight->bytes / dtype_bytes(weight->tensor.dtype));

            status = content_key(
                &(struct content){.dtype = weight->tensor.dtype, .rank = 1, .shape = &count},
                weight->data, &found);
        }
        if (status == TAPML_OK && !hash_equal(known, found)) {
            status = status_fail(TAPML_PRECONDITION,
                                 "'%s' holds a run with another [model] path: weight '%.200s' is "
                                 "not what it was; give this one another [run] dir, or remove that "
                                 "one",
                                 store_path(store), row_text(&row, 0));
        }
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

static tapml_status settle_weights(struct store *store,
                                   const struct run_config *config,
                                   const struct checkpoint *checkpoint)
{
    struct text files;

    text_init(&files);
    tapml_status status = print_files(config->model, checkpoint, &files);
    const char *known = store_fact(store, "model.files");

    // A store that has lost them is as suspect as one that knows others.
    if (status == TAPML_OK && (known == NULL || strcmp(known, files.data) != 0)) {
        status = check_weights(store, checkpoint);
    }
    if (status == TAPML_OK) {
        status = store_set_fact(store, "model.files", files.data);
    }
    text_release(&files);
    return status;
}

// What is wanted on a target: plans of the ledger begin so.
static tapml_status
write_goal(struct store *store, const struct run_config *config, const char *target)
{
    struct plan *plan = NULL;
    struct text text;
    char key[128];

    TAPML_TRY(run_config_goal(config, target, &plan));
    (void)snprintf(key, sizeof(key), "target.%s.goal", target);
    text_init(&text);
    plan_print(plan, &text);
    plan_destroy(plan);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        status = store_set_fact(store, key, text.data);
    }
    text_release(&text);
    return status;
}

// A target that never had others than f32 needs no such fact.
static tapml_status write_activations(struct store *store, const struct run_config_target *target)
{
    char key[128];

    (void)snprintf(key, sizeof(key), "target.%s.activations", target->name);
    return target->is_narrow || store_fact(store, key) != NULL
               ? store_set_fact(store, key, target->is_narrow ? "f16" : "f32")
               : TAPML_OK;
}

static tapml_status write_targets(struct store *store, const struct run_config *config)
{
    struct text names;
    tapml_status status = TAPML_OK;

    text_init(&names);
    for (size_t i = 0; i < config->target_count && status == TAPML_OK; i++) {
        const char *name = config->targets[i].name;
        char key[128];

        (void)snprintf(key, sizeof(key), "target.%s", name);
        text_format(&names, "%s%s", i > 0 ? " " : "", name);
        status = store_set_fact(store, key, config->targets[i].backend);
        if (status == TAPML_OK) {
            status = write_activations(store, &config->targets[i]);
        }
        if (status == TAPML_OK) {
            status = write_goal(store, config, name);
        }
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

// What the first start of a run was made by; a later one may differ, and the cases stay.
static tapml_status note_source(struct store *store, const struct setup *setup)
{
    const struct backend_info *info = backend_info(setup->backends[0]);
    const char *const facts[][2] = {
        {"host.version", TAPML_VERSION},  {"host.compiler", __VERSION__},
        {"source.plugin", info->plugin},  {"source.version", info->plugin_version},
        {"source.build", info->build_id}, {"source.component", info->component},
        {"source.device", info->device},  {"source.device_name", info->device_name},
        {"source.driver", info->driver},
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        if (store_fact(store, facts[i][0]) == NULL) {
            TAPML_TRY(store_set_fact(store, facts[i][0], facts[i][1] != NULL ? facts[i][1] : ""));
        }
    }
    return TAPML_OK;
}

static tapml_status settle_all(struct store *store,
                               const struct run_config *config,
                               const struct setup *setup,
                               const struct prompts *prompts)
{
    struct hash hash;

    TAPML_TRY(hash_prompts(prompts, &hash));
    TAPML_TRY(settle(store, "model.weights", "[model] weights", run_config_weights(config)));
    TAPML_TRY(
        settle_files(store, "model.hash", "[model] path", config->model, model_hash(setup->model)));
    TAPML_TRY(settle_weights(store, config, model_checkpoint(setup->model)));
    TAPML_TRY(settle_files(store, "prompts.hash", "[run] prompts", config->prompts, hash));
    TAPML_TRY(settle_number(store, "decode", "[run] decode", config->decode));
    TAPML_TRY(settle_number(store, "capacity", "[run] capacity", config->capacity));
    TAPML_TRY(settle_number(store, "chunk", "[run] chunk", config->chunk));
    TAPML_TRY(settle(store, "keep", "[run] keep", config->keep_all ? "all" : "first"));
    TAPML_TRY(settle(store, "source", "[source] backend", config->source));
    TAPML_TRY(write_model_path(store, config->model));
    TAPML_TRY(write_number(store, "prompts.count", (int64_t)prompts->count));
    TAPML_TRY(note_source(store, setup));
    return write_targets(store, config);
}

// All or none: a store that knows half of its run would accept another one's other half.
tapml_status facts_settle(struct store *store,
                          const struct run_config *config,
                          const struct setup *setup,
                          const struct prompts *prompts)
{
    TAPML_TRY(store_begin(store));
    tapml_status status = settle_all(store, config, setup, prompts);

    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status facts_encode(struct store *store, struct checkpoint *checkpoint)
{
    const char *word = store_fact(store, "model.weights");
    const tapml_encoding *encoding = word != NULL ? encoding_find_word(word) : NULL;
    struct encoding_loss loss;
    struct row row;
    int has = 0;

    if (encoding == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(row_begin(store, "SELECT name FROM weight WHERE dtype = 'u8' ORDER BY name",
                        "reading weights", &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const tapml_status status =
            checkpoint_encode(checkpoint, row_text(&row, 0), encoding, &loss);

        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
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
    struct fault_rule rules[RUN_CONFIG_FAULTS_MAX];
    const size_t count = run_config_faults(config, target, rules);

    for (size_t i = 0; i < count; i++) {
        text_append(text, text->length > 0 ? "; " : "");
        fault_print(&rules[i], text);
    }
}

// How a target is offloaded to, where that is not the usual way: steps of another one are others.
static void append_ways(struct text *text, const struct run_config *config, uint32_t index)
{
    static const char *const modes[] = {
        [LOOP_MIXED] = "", [LOOP_SHADOW] = " mode=shadow", [LOOP_CUMULATIVE] = " mode=cumulative"};

    text_append(text, modes[config->mode]);
    text_append(text, config->targets[index - 1].is_guarded ? " guard=on" : "");
    text_append(text, config->targets[index - 1].is_narrow ? " activations=f16" : "");
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

// A target that never was needs no such fact.
tapml_status facts_give_up(struct store *store, const char *target, const char *reason)
{
    char key[128];

    (void)snprintf(key, sizeof(key), "target.%s.given_up", target);
    return *reason != '\0' || store_fact(store, key) != NULL ? store_set_fact(store, key, reason)
                                                             : TAPML_OK;
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
    append_ways(&text, config, index);
    append_faults(&text, config, target);
    tapml_status status = text_status(&text);
    const char *known = store_fact(store, key);

    if (status == TAPML_OK && known != NULL && strcmp(known, text.data) != 0) {
        status = verdict_forget(store, target);
        if (status == TAPML_OK) {
            status = ledger_forget(store, target);
        }
        if (status == TAPML_OK) {
            status = findings_forget(store, target);
        }
    }
    if (status == TAPML_OK) {
        status = store_set_fact(store, key, text.data);
    }
    text_release(&text);
    return status == TAPML_OK ? write_faults(store, config, target) : status;
}
