// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/run_metadata.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "gguf/gguf.h"
#include "gguf/gguf_config.h"
#include "graph/group.h"
#include "model/checkpoint.h"
#include "run/delta_losses.h"
#include "run/follow_up.h"
#include "run/observers.h"
#include "schema/catalogue.h"
#include "store/carved.h"
#include "store/instance.h"
#include "store/loss.h"
#include "store/metadata.h"
#include "store/op_definition.h"
#include "store/store.h"
#include "store/target.h"
#include "store/weight.h"
#include "verify/calibrator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A key of the INI file that may not change between two starts of a run.
static tapml_status
settle(struct store *store, const char *name, const char *key, const char *value)
{
    const char *known = metadata_get(store, name);

    if (known == NULL) {
        return metadata_set(store, name, value);
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
    return metadata_set(store, name, text);
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
    const char *known = metadata_get(store, name);

    if (known == NULL) {
        return metadata_set(store, name, text);
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

// Where the model is may change; what it is may not. What it does not have has no row.
static tapml_status write_path(struct store *store, const char *name, const char *given)
{
    char *path = given != NULL ? realpath(given, NULL) : NULL;
    const tapml_status status =
        given != NULL ? metadata_set(store, name, path != NULL ? path : given) : TAPML_OK;

    free(path);
    return status;
}

// The files of the weights with their sizes and times, by which a change is suspected.
static tapml_status
print_files(const struct run_config *config, const struct checkpoint *checkpoint, struct text *out)
{
    const char *last = "";
    char *base = gguf_is(config->model) ? file_folder(config->model) : alloc_text(config->model);

    if (base == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
        const char *file = tensor->file;
        struct stat about = {0};

        if (strcmp(file, last) == 0) {
            continue;
        }
        char *path = file_join(tensor->is_of_adapter ? config->adapter : base, file);
        const int is_there = path != NULL && stat(path, &about) == 0;

        alloc_free(path);
        last = file;
        if (is_there) {
            text_format(out, "%s %lld %lld.%09ld;", file, (long long)about.st_size,
                        (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
        }
    }
    alloc_free(base);
    return text_status(out);
}

// The model's hash takes samples of the weights alone. Where the files are others by their times,
// each weight that a case refers to is compared by its own hash, which is of all its bytes.
static tapml_status
check_weights(struct store *store, const struct checkpoint *checkpoint, struct arena *arena)
{
    struct weight_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(weight_list(store, arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        int is_same = 0;

        TAPML_TRY(weight_is_same(&rows[i], checkpoint_find(checkpoint, rows[i].name), &is_same));
        if (!is_same) {
            return status_fail(TAPML_PRECONDITION,
                               "'%s' holds a run with another [model] path: weight '%.200s' is "
                               "not what it was; give this one another [run] dir, or remove that "
                               "one",
                               store_path(store), rows[i].name);
        }
    }
    return TAPML_OK;
}

static tapml_status settle_weights(struct store *store,
                                   const struct run_config *config,
                                   const struct checkpoint *checkpoint,
                                   struct arena *arena)
{
    struct text files;

    text_init(&files);
    tapml_status status = print_files(config, checkpoint, &files);
    const char *known = metadata_get(store, "model.files");

    // A store that has lost them is as suspect as one that knows others.
    if (status == TAPML_OK && (known == NULL || strcmp(known, files.data) != 0)) {
        status = check_weights(store, checkpoint, arena);
    }
    if (status == TAPML_OK) {
        status = metadata_set(store, "model.files", files.data);
    }
    text_release(&files);
    return status;
}

// A target as the INI file has it. Plans of its steps begin with `goal`.
static tapml_status declare_target(const struct run_config *config,
                                   const struct place_settings *target,
                                   struct arena *arena,
                                   struct target_row *out_row)
{
    struct plan *plan = NULL;
    struct text goal;

    TAPML_TRY(run_config_goal(config, target->name, &plan));
    text_init(&goal);
    plan_print(plan, &goal);
    plan_destroy(plan);
    *out_row = (struct target_row){
        .name = target->name,
        .backend = target->backend,
        .activations = activation_type(target->activation)->name,
        .faults = fault_rule_keep_all(target->faults, target->fault_count, arena),
        .goal = arena_text(arena, goal.data),
        .needs_all = target->require_all};
    const tapml_status status = text_status(&goal);

    text_release(&goal);
    return status == TAPML_OK && (out_row->faults == NULL || out_row->goal == NULL)
               ? status_no_memory()
               : status;
}

static tapml_status
write_targets(struct store *store, const struct run_config *config, struct arena *arena)
{
    struct target_row rows[RUN_CONFIG_TARGETS_MAX];

    for (size_t i = 0; i < config->target_count; i++) {
        TAPML_TRY(declare_target(config, &config->targets[i], arena, &rows[i]));
    }
    return target_declare(store, rows, config->target_count);
}

// Notes what a run was first made by; a later start may differ, and the cases stay.
static tapml_status note(struct store *store, const char *const (*metadata)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (metadata_get(store, metadata[i][0]) == NULL) {
            TAPML_TRY(
                metadata_set(store, metadata[i][0], metadata[i][1] != NULL ? metadata[i][1] : ""));
        }
    }
    return TAPML_OK;
}

static tapml_status note_host(struct store *store)
{
    static const char *const metadata[][2] = {{"host.version", TAPML_VERSION},
                                              {"host.compiler", __VERSION__}};

    return note(store, metadata, sizeof(metadata) / sizeof(*metadata));
}

static tapml_status note_source(struct store *store, const struct setup *setup)
{
    const struct backend_info *info = backend_info(setup->places[0]->backend);
    const char *const metadata[][2] = {
        {"source.plugin", info->plugin},  {"source.version", info->plugin_version},
        {"source.build", info->build_id}, {"source.component", info->component},
        {"source.device", info->device},  {"source.device_name", info->device_name},
        {"source.driver", info->driver},
    };

    TAPML_TRY(note_host(store));
    return note(store, metadata, sizeof(metadata) / sizeof(*metadata));
}

// What of a config.json says how large a model is. Others are left out: the file is there.
const char *const run_metadata_config_texts[RUN_METADATA_CONFIG_TEXTS] = {"model_type", "dtype",
                                                                          "torch_dtype"};
const char *const run_metadata_config_numbers[RUN_METADATA_CONFIG_NUMBERS] = {
    "num_hidden_layers",   "hidden_size",         "intermediate_size",
    "num_attention_heads", "num_key_value_heads", "head_dim",
    "num_local_experts",   "num_experts",         "vocab_size",
};

// A value of `type`, a text or a whole number; of a model for more than text, its decoder's. What
// is absent or of another type is left out.
static tapml_status
write_config_value(struct store *store, const json_t *config, const char *key, json_type type)
{
    const json_t *own = json_object_get(config, key);
    const json_t *value =
        own != NULL ? own : json_object_get(json_object_get(config, "text_config"), key);
    char name[64];

    if (value == NULL || json_typeof(value) != type) {
        return TAPML_OK;
    }
    (void)snprintf(name, sizeof(name), RUN_METADATA_MODEL_CONFIG "%s", key); // Fits.
    return type == JSON_STRING ? metadata_set(store, name, json_string_value(value))
                               : write_number(store, name, json_integer_value(value));
}

static tapml_status write_config(struct store *store, const char *folder)
{
    char *path = file_join(folder, "config.json");
    json_t *config = NULL;

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = TAPML_OK;

    const tapml_status loaded =
        gguf_is(folder) ? gguf_config_load(folder, &config) : json_file_load(path, &config);

    if (loaded == TAPML_OK) {
        for (size_t i = 0; status == TAPML_OK && i < RUN_METADATA_CONFIG_TEXTS; i++) {
            status = write_config_value(store, config, run_metadata_config_texts[i], JSON_STRING);
        }
        for (size_t i = 0; status == TAPML_OK && i < RUN_METADATA_CONFIG_NUMBERS; i++) {
            status =
                write_config_value(store, config, run_metadata_config_numbers[i], JSON_INTEGER);
        }
    }
    json_decref(config);
    alloc_free(path);
    return status;
}

// How many numbers the encoded weights of a graph are, and as what.
static tapml_status write_encoded(struct store *store, const struct graph *graph)
{
    const char *id = "";
    uint64_t count = 0;

    for (uint32_t i = 0; i < graph->value_count; i++) {
        const struct graph_value *value = &graph->values[i];
        uint64_t own = value->kind == GRAPH_WEIGHT && value->encoding != NULL;

        for (uint32_t axis = 0; axis < value->rank; axis++) {
            own *= (uint64_t)value->shape[axis].constant; // Which has been counted at load.
        }
        count += own;
        id = own > 0 ? value->encoding->id : id;
    }
    TAPML_TRY(write_number(store, "model.encoded", (int64_t)count));
    return metadata_set(store, "model.encoding", id);
}

// Those of states, which stand behind them, stay (run/state_loss).
static tapml_status
write_losses(struct store *store, const struct encode_account *account, struct arena *arena)
{
    struct loss_row *known = NULL;
    size_t known_count = 0;

    TAPML_TRY(loss_list(store, arena, &known, &known_count));
    const size_t states = known_count > account->loss_count ? known_count - account->loss_count : 0;
    struct loss_row *rows =
        arena_array(arena, (size_t)account->loss_count + states + 1, sizeof(*rows));

    if (rows == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < account->loss_count; i++) {
        rows[i] = (struct loss_row){account->losses[i].name, account->losses[i].relative,
                                    account->losses[i].largest};
    }
    for (size_t i = 0; i < states; i++) {
        rows[account->loss_count + i] = known[account->loss_count + i];
    }
    return loss_replace(store, rows, account->loss_count + states);
}

static tapml_status
write_instances(struct store *store, const struct graph *graph, struct arena *arena)
{
    struct instance_row *rows = arena_array(arena, (size_t)graph->op_count + 1, sizeof(*rows));

    if (rows == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];

        rows[i] = (struct instance_row){op->instance, op->op->name, op->op->tolerance};
    }
    return instance_replace(store, rows, graph->op_count);
}

// Where limits come from. A component that calibrates for want of one that says so lists no
// devices.
static tapml_status write_limits(struct store *store, const struct setup *setup, const tapml_op *op)
{
    const char *oracle = registry_oracle(setup->registry, op);
    const char *devices =
        oracle != NULL ? registry_component_key(setup->registry, oracle, "calibrates") : NULL;

    TAPML_TRY(write_number(store, "limits.factor", CALIBRATE_FACTOR));
    TAPML_TRY(metadata_set(store, "limits.component", oracle != NULL ? oracle : ""));
    return metadata_set(store, "limits.devices", devices != NULL ? devices : "");
}

// Groups are ops that no plugin brings.
static tapml_status write_groups(struct store *store, const struct graph *graph)
{
    const char *name = NULL;

    for (uint32_t i = 0; i < graph->op_count; i++) {
        if (group_rule_name(graph->ops[i].op->name, &name) > 0) {
            TAPML_TRY(op_definition_write(store, graph->ops[i].op));
        }
    }
    return TAPML_OK;
}

// What a report says of the model, since a report is made without the model.
static tapml_status write_model(struct store *store, const struct setup *setup, struct arena *arena)
{
    const struct model *model = setup->model;

    TAPML_TRY(metadata_set(store, "model.architecture", model_architecture(model)));
    TAPML_TRY(write_config(store, model_folder(model)));
    TAPML_TRY(write_encoded(store, model_graph(model)));
    TAPML_TRY(write_losses(store, model_losses(model), arena));
    TAPML_TRY(write_instances(store, model_graph(model), arena));
    TAPML_TRY(write_groups(store, model_graph(model)));
    return write_limits(store, setup, model_graph(model)->ops[0].op);
}

// The last part of the folder's path.
static const char *name_of(const char *path)
{
    const char *name = strrchr(path, '/');

    return name != NULL && name[1] != '\0' ? name + 1 : path;
}

// A run that was carved before there was a choice kept f32.
static tapml_status settle_state(struct store *store, enum state_type state)
{
    if (metadata_get(store, "model.hash") != NULL && metadata_get(store, "model.state") == NULL) {
        TAPML_TRY(metadata_set(store, "model.state", state_type_word(STATE_F32)));
    }
    return settle(store, "model.state", "[model] state", state_type_word(state));
}

// Sets what a later start may change; what never had a value has no row.
static tapml_status note_latest(struct store *store, const char *name, const char *value)
{
    return value[0] != '\0' || metadata_get(store, name) != NULL ? metadata_set(store, name, value)
                                                                 : TAPML_OK;
}

static tapml_status
note_of_place(struct store *store, const char *prefix, const char *place, const char *value)
{
    struct text name;

    text_init(&name);
    text_format(&name, "%s%s", prefix, place);
    tapml_status status = text_status(&name);

    status = status == TAPML_OK ? note_latest(store, name.data, value) : status;
    text_release(&name);
    return status;
}

// Notes the observers of a place, for the report and for commands that open it again.
static tapml_status note_observers(struct store *store,
                                   struct registry *registry,
                                   const struct place_settings *settings)
{
    const char *words = settings->observers != NULL ? settings->observers : "";
    struct text value;

    text_init(&value);
    tapml_status status = observers_print(registry, settings->observers, 0, &value);

    if (status == TAPML_OK) {
        status = note_of_place(store, RUN_METADATA_OBSERVERS, settings->name, value.data);
    }
    if (status == TAPML_OK) {
        status = note_of_place(store, RUN_METADATA_OBSERVE, settings->name, words);
    }
    text_release(&value);
    return status;
}

// Notes what sees a place's calls, and where its machine is.
static tapml_status
note_place(struct store *store, struct registry *registry, const struct place_settings *settings)
{
    const char *url = settings->isolation.url, *listen = settings->isolation.listen;

    TAPML_TRY(note_observers(store, registry, settings));
    TAPML_TRY(note_of_place(store, RUN_METADATA_URL, settings->name, url != NULL ? url : ""));
    return note_of_place(store, RUN_METADATA_LISTEN, settings->name, listen != NULL ? listen : "");
}

static tapml_status note_arguments(struct store *store, const struct setup *setup)
{
    struct text value;

    text_init(&value);
    follow_up_print(setup, &value);
    tapml_status status = text_status(&value);

    status = status == TAPML_OK ? note_latest(store, RUN_METADATA_ARGUMENTS, value.data) : status;
    text_release(&value);
    TAPML_TRY(status);
    return note_latest(store, RUN_METADATA_NO_TEXT, setup->tokenizer == NULL ? "1" : "");
}

// What this start has of each place, and of the run's plugins.
static tapml_status
note_plugins(struct store *store, const struct run_config *config, const struct setup *setup)
{
    if (config->store == NULL) {
        TAPML_TRY(note_place(store, setup->registry, &config->source));
    }
    for (size_t i = 0; i < config->target_count; i++) {
        TAPML_TRY(note_place(store, setup->registry, &config->targets[i]));
    }
    return note_arguments(store, setup);
}

// Observers that replace what the source computes make other cases of it.
static tapml_status
settle_observers(struct store *store, const struct run_config *config, const struct setup *setup)
{
    static const char name[] = "source.replaced_by";
    struct text value;

    text_init(&value);
    tapml_status status = observers_print(setup->registry, config->source.observers, 1, &value);
    const int is_new = metadata_get(store, "model.hash") == NULL;

    if (status == TAPML_OK && (value.length > 0 || metadata_get(store, name) != NULL)) {
        if (!is_new && metadata_get(store, name) == NULL) {
            status = metadata_set(store, name, "");
        }
        status =
            status == TAPML_OK ? settle(store, name, "[source] observers", value.data) : status;
    }
    text_release(&value);
    return status;
}

static tapml_status settle_all(struct store *store,
                               const struct run_config *config,
                               const struct setup *setup,
                               const struct prompts *prompts,
                               struct arena *arena)
{
    struct hash hash = {0, 0};

    TAPML_TRY(hash_prompts(prompts, &hash));
    TAPML_TRY(settle_observers(store, config, setup)); // Before the model's hash is known.
    TAPML_TRY(settle(store, "model.weights", "[model] weights", config->weights));
    TAPML_TRY(settle_state(store, config->state));
    TAPML_TRY(
        settle_files(store, "model.hash", "[model] path", config->model, model_hash(setup->model)));
    TAPML_TRY(settle_weights(store, config, model_checkpoint(setup->model), arena));
    TAPML_TRY(settle_files(store, "prompts.hash", "[run] prompts", config->prompts, hash));
    TAPML_TRY(settle_number(store, "decode", "[run] decode", config->decode));
    TAPML_TRY(settle_number(store, "capacity", "[run] capacity", config->capacity));
    TAPML_TRY(settle_number(store, "chunk", "[run] chunk", config->chunk));
    TAPML_TRY(settle(store, "keep", "[run] keep", config->keep_all ? "all" : "first"));
    TAPML_TRY(settle(store, "source", "[source] backend", config->source.backend));
    TAPML_TRY(write_path(store, "model.path", config->model));
    TAPML_TRY(write_path(store, "model.delta", config->delta));
    TAPML_TRY(delta_losses_write(store, config->delta));
    TAPML_TRY(write_path(store, "model.adapter", config->adapter));
    TAPML_TRY(write_number(store, "prompts.count", (int64_t)prompts->count));
    TAPML_TRY(metadata_set(store, "run.name", name_of(config->dir)));
    TAPML_TRY(note_source(store, setup));
    TAPML_TRY(note_plugins(store, config, setup));
    TAPML_TRY(write_model(store, setup, arena));
    return write_targets(store, config, arena);
}

// The instances of cases, of which some may have an op that no plugin knows. `*out_op` is one that
// is known, or NULL.
static tapml_status write_case_instances(struct store *store,
                                         const struct setup *setup,
                                         struct arena *arena,
                                         const tapml_op **out_op)
{
    struct carved_instance *items = NULL;
    size_t count = 0;

    TAPML_TRY(carved_list_instances(store, arena, &items, &count));
    struct instance_row *rows = arena_array(arena, count + 1, sizeof(*rows));

    if (rows == NULL) {
        return status_no_memory();
    }
    *out_op = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!plan_can_name(items[i].instance)) {
            return status_fail(TAPML_INVALID,
                               "'%s' has cases of '%.200s', which no plan can name: it has blanks, "
                               "'*', '?' or '['",
                               store_path(store), items[i].instance);
        }
        const struct compiled_op *schema =
            catalogue_find(registry_catalogue(setup->registry), items[i].op, items[i].version);

        rows[i] = (struct instance_row){items[i].instance, items[i].op,
                                        schema != NULL ? schema->op->tolerance : ""};
        *out_op = schema != NULL && *out_op == NULL ? schema->op : *out_op;
    }
    return instance_replace(store, rows, count);
}

static tapml_status settle_all_cases(struct store *store,
                                     const struct run_config *config,
                                     const struct setup *setup,
                                     struct arena *arena)
{
    const tapml_op *op = NULL;

    TAPML_TRY(metadata_set(store, RUN_METADATA_STORE, config->store));
    TAPML_TRY(metadata_set(store, "run.name", name_of(config->dir)));
    TAPML_TRY(note_host(store));
    TAPML_TRY(write_case_instances(store, setup, arena, &op));
    if (op != NULL) {
        TAPML_TRY(write_limits(store, setup, op));
    }
    TAPML_TRY(note_plugins(store, config, setup));
    return write_targets(store, config, arena);
}

// Without prompts it is a run over cases, and without a setup it is about targets alone.
static tapml_status settle_any(struct store *store,
                               const struct run_config *config,
                               const struct setup *setup,
                               const struct prompts *prompts,
                               struct arena *arena)
{
    return prompts != NULL ? settle_all(store, config, setup, prompts, arena)
           : setup != NULL ? settle_all_cases(store, config, setup, arena)
                           : write_targets(store, config, arena);
}

// All or none: a store that knows half of its run would accept another one's other half.
static tapml_status settle_at_once(struct store *store,
                                   const struct run_config *config,
                                   const struct setup *setup,
                                   const struct prompts *prompts)
{
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = store_begin(store);

    if (status == TAPML_OK) {
        status = settle_any(store, config, setup, prompts, arena);
        if (status == TAPML_OK) {
            status = store_commit(store);
        }
        if (status != TAPML_OK) {
            store_rollback(store);
        }
    }
    arena_destroy(arena);
    return status;
}

tapml_status run_metadata_settle(struct store *store,
                                 const struct run_config *config,
                                 const struct setup *setup,
                                 const struct prompts *prompts)
{
    return settle_at_once(store, config, setup, prompts);
}

tapml_status run_metadata_settle_cases(struct store *store,
                                       const struct run_config *config,
                                       const struct setup *setup)
{
    return settle_at_once(store, config, setup, NULL);
}

tapml_status run_metadata_settle_targets(struct store *store, const struct run_config *config)
{
    return settle_at_once(store, config, NULL, NULL);
}

const char *run_metadata_model_name(struct store *store, struct arena *arena)
{
    const char *path = metadata_get(store, "model.path");

    if (path == NULL) {
        const char *told = metadata_get(store, "model.name");

        return arena_text(arena, told != NULL ? told : "");
    }
    const char *name = strrchr(path, '/');

    return arena_text(arena, name != NULL && name[1] != '\0' ? name + 1 : path);
}
