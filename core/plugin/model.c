// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/model.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "graph/adapt.h"
#include "graph/builder.h"
#include "graph/sharding_rewrite.h"
#include "model/adapter.h"
#include "model/checkpoint.h"
#include "model/delta.h"
#include "model/delta_beside.h"
#include "model/quantised_config.h"
#include "model/tensor_parallel.h"
#include "model/weight_files.h"
#include "plugin/component.h"
#include "tensor/encoding.h"

#include <tapml/model.h>

#include <string.h>

enum { NAMES_MAX = 256 };

struct model {
    struct component *component; // The architecture.
    const tapml_model *table;
    char *folder;
    struct config *config;
    struct checkpoint *checkpoint; // NULL: without weights.
    struct weights *weights;
    struct graph *graph;
    struct sharding *sharding; // NULL: the graph is whole.
    uint64_t copied_bytes;     // Of weights, for the sharding.
    struct encode_account losses;
    struct hash hash;
};

// -- Which architecture ------------------------------------------------------------------------

// The best of those that were asked.
struct choice {
    struct component *best;
    struct component *rival; // With the same score, or NULL.
    uint32_t score;
    struct text asked;
};

static tapml_status
score_of(struct component *component, struct config *config, uint32_t *out_score)
{
    const tapml_model *table = component->table;
    uint32_t score = 0;
    services_begin(&component->call);
    const tapml_status status =
        table->match(component->root, &component->call, config_object(config), &score);
    TAPML_TRY(services_end(&component->call, status, component->entry.component, "match"));
    *out_score = score;
    return TAPML_OK;
}

static tapml_status ask(struct choice *choice, struct component *component, struct config *config)
{
    uint32_t score = 0;
    TAPML_TRY(score_of(component, config, &score));
    if (score > choice->score) {
        choice->best = component;
        choice->rival = NULL;
        choice->score = score;
    } else if (score > 0 && score == choice->score) {
        choice->rival = component;
    }
    return TAPML_OK;
}

static tapml_status judge(const struct choice *choice, const struct config *config)
{
    const char *type = config_model_type(config);
    if (!choice->best && !type) {
        return status_fail(TAPML_INVALID,
                           "the model's config.json has no 'model_type', expected a text by which "
                           "an architecture is found");
    }
    if (!choice->best) {
        return status_fail(
            TAPML_NOT_FOUND, "no architecture knows the model type '%s'; installed are:%s",
            type ? type : "", choice->asked.length > 0 ? choice->asked.data : " none");
    }
    if (choice->rival) {
        return status_fail(
            TAPML_INVALID,
            "the architectures '%s' of '%s' and '%s' of '%s' both fit the model type "
            "'%s': settle it by [model] architecture or --architecture",
            choice->best->entry.component, choice->best->entry.plugin,
            choice->rival->entry.component, choice->rival->entry.plugin, type ? type : "");
    }
    return TAPML_OK;
}

static tapml_status
no_such_architecture(struct registry *registry, const char *named, const struct text *there)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    for (size_t i = 0; i < NAMES_MAX; ++i) {
        names[i] = registry_component(registry, TAPML_KIND_MODEL, i);
        if (!names[i]) {
            break;
        }
    }
    const char *near = text_nearest(named, names);
    return status_fail(TAPML_NOT_FOUND,
                       "no architecture '%s' can be used%s%s%s; those that can be are:%s", named,
                       near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
                       there->length > 0 ? there->data : " none");
}

// Asks those architectures that are for this type of model, and those whose manifests name no
// types: to open all libraries takes as long as all else that a short command does.
static tapml_status
ask_listed(struct registry *registry, struct config *config, struct choice *choice)
{
    const char *type = config_model_type(config);
    tapml_status status = TAPML_OK;
    for (size_t i = 0; status == TAPML_OK && type && *type; ++i) {
        struct component *component =
            registry_find_listed(registry, TAPML_KIND_MODEL, "model-types", type, i);
        if (!component) {
            break;
        }
        status = ask(choice, component, config);
    }
    return status;
}

// Asks the architectures, all of them where none of the likely ones knows the model; or takes the
// one that is named.
static tapml_status choose(struct registry *registry,
                           struct config *config,
                           const char *named,
                           struct component **out_component)
{
    struct choice choice = {0};
    struct component *component = NULL;
    tapml_status status = TAPML_OK;
    text_init(&choice.asked);
    if (!named) {
        status = ask_listed(registry, config, &choice);
    }
    const int is_settled = choice.best != NULL; // Else a later one may fit better, or as well.
    for (size_t i = 0; status == TAPML_OK && !is_settled; ++i) {
        component = registry_find(registry, TAPML_KIND_MODEL, i);
        if (!component || (named && strcmp(component->entry.component, named) == 0)) {
            break;
        }
        text_format(&choice.asked, " '%s'", component->entry.component);
        status = named ? TAPML_OK : ask(&choice, component, config);
    }
    if (status == TAPML_OK && named && !component) {
        status = no_such_architecture(registry, named, &choice.asked);
    }
    if (status == TAPML_OK && !named) {
        status = judge(&choice, config);
        component = choice.best;
    }
    text_release(&choice.asked);
    if (status == TAPML_OK) {
        *out_component = component;
    }
    return status;
}

// -- The graph ---------------------------------------------------------------------------------

static tapml_status build(struct model *model, struct builder *builder)
{
    struct component *component = model->component;
    services_begin(&component->call);
    const tapml_status status =
        model->table->build(component->root, &component->call, config_object(model->config),
                            weights_object(model->weights), builder_object(builder));
    return services_end(&component->call, status, component->entry.component, "build");
}

static tapml_status
try_graph(struct model *model, struct registry *registry, const struct model_options *options)
{
    struct builder *builder = NULL;
    const int allow_unknown = options->allow_unknown_keys;
    TAPML_TRY(
        builder_create(registry_catalogue(registry), weights_object(model->weights), &builder));
    if (!options->plain_inputs) {
        builder_quantise_inputs(builder);
    }
    tapml_status status = build(model, builder);
    // A key of the wrong type was answered with its default, and explains a build that fails better
    // than its own words. An unknown key does not: not all were reached.
    const tapml_status keys =
        status == TAPML_NO_MEMORY
            ? TAPML_OK
            : config_check(model->config, status != TAPML_OK || allow_unknown);
    if (keys != TAPML_OK) {
        status = keys;
    }
    if (status == TAPML_OK) {
        status = builder_finish(builder, &model->graph);
    }
    builder_destroy(builder);
    return status;
}

static int learns_ops(struct registry *registry)
{
    const size_t known = catalogue_count(registry_catalogue(registry));
    return registry_learn(registry) == TAPML_OK &&
           catalogue_count(registry_catalogue(registry)) > known;
}

// A stranger's op is known once the backend that brings it was opened. So where something was not
// found, every backend is asked, and if that brings ops, the graph is built again.
static tapml_status
make_graph(struct model *model, struct registry *registry, const struct model_options *options)
{
    const tapml_status status = try_graph(model, registry, options);
    if (status != TAPML_NOT_FOUND) {
        return status;
    }
    char *message = alloc_text(status_message());
    const int learns = learns_ops(registry);
    (void)status_fail(status, "%s", message ? message : "");
    alloc_free(message);
    return learns ? try_graph(model, registry, options) : status;
}

static struct hash hash_of(const struct model *model)
{
    struct hash parts[] = {
        config_hash(model->config),
        {0, 0},
        graph_hash(model->graph),
    };
    if (model->checkpoint) {
        parts[1] = checkpoint_hash(model->checkpoint);
    }
    return hash_bytes(parts, sizeof(parts));
}

static tapml_status read_config(const struct model_options *options, struct config **out_config)
{
    return options->config != NULL ? config_parse(options->folder, options->config, out_config)
                                   : config_open(options->folder, out_config);
}

// The keys that other architectures read while they were asked do not count as understood: the
// config is read anew for the one that builds.
static tapml_status
open_config(struct model *model, struct registry *registry, const struct model_options *options)
{
    struct config *config = NULL;
    uint32_t score = 0;
    TAPML_TRY(read_config(options, &config));
    const tapml_status status = choose(registry, config, options->architecture, &model->component);
    config_close(config);
    TAPML_TRY(status);
    ASSERT(model->component != NULL);
    model->table = model->component->table;
    TAPML_TRY(read_config(options, &model->config));
    return score_of(model->component, model->config, &score);
}

// Refuses quantised weights that are not understood, with and without the files of weights, and
// lets the keys that are understood count as read.
static tapml_status check_quantised(struct config *config)
{
    struct quantised_config *quantised = NULL;
    const tapml_status status = quantised_config_read(config, &quantised);
    quantised_config_destroy(quantised);
    return status;
}

// Weights that the file has in blocks stay so where they can.
static tapml_status take_blocks(struct model *model, const char *path)
{
    uint32_t decoded = 0;
    TAPML_TRY(encode_stored(model->graph, model->checkpoint, &decoded));
    if (decoded > 0) {
        log_line(LOG_INFO, "%s: %u weights in blocks are decoded, which not all operators take",
                 path, decoded);
    }
    return TAPML_OK;
}

// What is done otherwise than the files say.
static void warn(const struct model *model, const struct model_options *options)
{
    const char *remark = model->checkpoint ? checkpoint_remark(model->checkpoint) : NULL;
    size_t quantised = 0;
    for (size_t i = 0; model->checkpoint && i < checkpoint_count(model->checkpoint); ++i) {
        quantised += checkpoint_at(model->checkpoint, i)->inputs != NULL;
    }
    if (remark) {
        log_line(LOG_WARNING, "%s: %s", options->folder, remark);
    }
    if (options->plain_inputs && quantised > 0) {
        log_line(LOG_WARNING,
                 "%s: inputs of %zu weights stay as they are, which the checkpoint quantises",
                 options->folder, quantised);
    }
}

// A rule that matches nothing is a mistake of who wrote it.
static tapml_status
make_groups(struct model *model, struct registry *registry, const struct model_options *options)
{
    const size_t count = options->group_count;
    uint32_t *found = alloc_array(count + 1, sizeof(*found));
    if (!found) {
        return status_no_memory();
    }
    tapml_status status =
        group_apply(model->graph, options->groups, count, registry_catalogue(registry),
                    registry_arena(registry), found);
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        if (found[i] == 0) {
            status = status_fail(TAPML_NOT_FOUND, "group '%s' matches no two ops of the model",
                                 options->groups[i].name);
        }
    }
    alloc_free(found);
    return status;
}

static tapml_status
annotate(struct model *model, struct registry *registry, const struct sharding_options *options)
{
    TAPML_TRY(sharding_create(model->graph, options, &model->sharding));
    return sharding_rewrite(&model->graph, model->sharding, registry_catalogue(registry),
                            model->checkpoint, &model->copied_bytes);
}

// By what the configuration says, and by what else is annotated.
static tapml_status annotate_as_published(struct model *model,
                                          struct registry *registry,
                                          const struct sharding_options *options)
{
    struct sharding_options both = *options;
    struct tensor_parallel plan;
    if (strcmp(options->plan, SHARDING_PLAN_PUBLISHED) != 0) {
        return status_fail(TAPML_INVALID,
                           "plan: expected '" SHARDING_PLAN_PUBLISHED "', found '%s'",
                           options->plan);
    }
    tapml_status status = tensor_parallel_read(model->config, &plan);
    if (status == TAPML_OK) {
        text_format(&plan.column, " %s", options->column ? options->column : "");
        text_format(&plan.row, " %s", options->row ? options->row : "");
        both.column = plan.column.data;
        both.row = plan.row.data;
        status = text_status(&plan.column) == TAPML_OK ? text_status(&plan.row) : TAPML_NO_MEMORY;
    }
    if (status == TAPML_OK && plan.others.length > 0) {
        log_line(LOG_WARNING, "%s: not followed of base_model_tp_plan: %s",
                 config_name(model->config), plan.others.data);
    }
    status = status == TAPML_OK ? annotate(model, registry, &both) : status;
    tensor_parallel_release(&plan);
    return status;
}

static tapml_status
divide(struct model *model, struct registry *registry, const struct sharding_options *options)
{
    const tapml_status status = options->plan ? annotate_as_published(model, registry, options)
                                              : annotate(model, registry, options);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "sharding");
}

static tapml_status open_weights(struct model *model, const struct model_options *options)
{
    if (options->without_weights) {
        return options->delta || options->adapter
                   ? status_fail(TAPML_INVALID, "%s '%s': expected the weights of the model",
                                 options->delta ? "delta" : "adapter",
                                 options->delta ? options->delta : options->adapter)
                   : TAPML_OK;
    }
    TAPML_TRY(options->base ? checkpoint_branch(options->base->checkpoint, &model->checkpoint)
                            : weight_files_open(options->folder, &model->checkpoint));
    if (options->delta) {
        TAPML_TRY(options->keeps_beside ? delta_beside_join(options->delta, model->checkpoint)
                                        : delta_join(options->delta, model->checkpoint));
    }
    return options->adapter ? adapter_join(options->adapter, model->checkpoint) : TAPML_OK;
}

// Fewer bits are what was asked for, so that no weight in them is worth a line.
static tapml_status encode(struct model *model, const tapml_encoding *encoding)
{
    TAPML_TRY(encode_weights(model->graph, model->checkpoint, encoding, &model->losses));
    if (model->losses.loss_count == 0) {
        log_line(LOG_WARNING, "no weight is kept as %s: none has rows of complete blocks of values",
                 encoding_word_of(encoding));
    }
    return TAPML_OK;
}

static tapml_status
fill(struct model *model, struct registry *registry, const struct model_options *options)
{
    if (options->config == NULL && !file_exists(options->folder)) {
        return status_fail(TAPML_NOT_FOUND, "expected a folder or a GGUF file, found nothing");
    }
    model->folder = alloc_text(options->folder);
    if (!model->folder) {
        return status_no_memory();
    }
    TAPML_TRY(open_config(model, registry, options));
    TAPML_TRY(check_quantised(model->config));
    TAPML_TRY(open_weights(model, options));
    TAPML_TRY(weights_create(model->checkpoint, &model->weights));
    TAPML_TRY(make_graph(model, registry, options));
    if (model->checkpoint) {
        TAPML_TRY(adapt_check_used(model->graph, model->checkpoint));
        TAPML_TRY(take_blocks(model, options->folder));
    }
    if (options->encoding && model->checkpoint) {
        TAPML_TRY(encode(model, options->encoding));
    }
    if (options->state != STATE_F32) {
        TAPML_TRY(state_type_apply(model->graph, options->state));
    }
    if (options->group_count > 0) {
        TAPML_TRY(make_groups(model, registry, options));
    }
    if (options->sharding) {
        TAPML_TRY(divide(model, registry, options->sharding));
    }
    model->hash = hash_of(model);
    warn(model, options);
    return TAPML_OK;
}

tapml_status
model_open(struct registry *registry, const struct model_options *options, struct model **out_model)
{
    ASSERT(!options->config || options->without_weights);
    ASSERT(!options->base || (options->base->checkpoint && !options->base->sharding));
    struct model *model = alloc_new(sizeof(*model));
    if (!model) {
        return status_no_memory();
    }
    const tapml_status status = fill(model, registry, options);
    if (status != TAPML_OK) {
        model_close(model);
        return status_explain(status, "model '%s'", options->folder);
    }
    *out_model = model;
    return TAPML_OK;
}

void model_close(struct model *model)
{
    if (!model) {
        return;
    }
    sharding_destroy(model->sharding);
    graph_destroy(model->graph);
    weights_destroy(model->weights);
    checkpoint_close(model->checkpoint);
    config_close(model->config);
    alloc_free(model->folder);
    alloc_free(model);
}

const struct graph *model_graph(const struct model *model)
{
    return model->graph;
}

const struct checkpoint *model_checkpoint(const struct model *model)
{
    return model->checkpoint;
}

const struct sharding *model_sharding(const struct model *model, uint64_t *out_copied)
{
    *out_copied = model->copied_bytes;
    return model->sharding;
}

tapml_status model_set_state(struct model *model, enum state_type type)
{
    return state_type_apply(model->graph, type);
}

const struct encode_account *model_losses(const struct model *model)
{
    return &model->losses;
}

const char *model_architecture(const struct model *model)
{
    return model->component->entry.component;
}

const char *model_folder(const struct model *model)
{
    return model->folder;
}

void model_account(const struct model *model, struct text *out_text)
{
    config_account(model->config, out_text);
}

struct hash model_hash(const struct model *model)
{
    return model->hash;
}

tapml_status model_fill(struct model *model,
                        const char *input,
                        struct model_span span,
                        void *target,
                        uint64_t target_bytes)
{
    struct component *component = model->component;
    if (!TAPML_HAS_FN(tapml_model, model->table, fill)) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "%s: the graph has an input '%s' to fill, and no function for it",
                           component->entry.component, input);
    }
    services_begin(&component->call);
    const tapml_status status =
        model->table->fill(component->root, &component->call, config_object(model->config), input,
                           span.first, span.count, span.length, target, target_bytes);
    return services_end(&component->call, status, component->entry.component, "fill");
}
