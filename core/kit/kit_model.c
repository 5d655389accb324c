// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_model.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/table.h"
#include "base/text.h"
#include "config/model_list.h"
#include "config/model_path.h"
#include "config/options.h"
#include "kit/kit_subject.h"
#include "plugin/component.h"

#include <tapml/model.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_BYTES_MAX = 1 << 22, FILES_MAX = OPTIONS_MAX + 1 };

// -- The host ----------------------------------------------------------------------------------

// The plugin, and those beside it, whose ops its graphs may have; ended by NULL.
static void list_files(const struct kit_subject *subject, const char *out_files[FILES_MAX + 1])
{
    size_t count = 0;

    out_files[count++] = subject->manifest_path != NULL ? subject->manifest_path : subject->library;
    for (size_t i = 0; subject->others != NULL && subject->others[i] != NULL && count < FILES_MAX;
         i++) {
        out_files[count++] = subject->others[i];
    }
    out_files[count] = NULL;
}

static int open_registry(const struct kit_subject *subject,
                         struct kit_result *io_result,
                         struct kit_model *model)
{
    const char *files[FILES_MAX + 1];
    char program[PATH_MAX];

    list_files(subject, files);
    const tapml_status status = registry_create(
        &(struct registry_options){.program = file_of_program(program, sizeof(program)),
                                   .files = files,
                                   .ini = &subject->options},
        &model->registry);

    for (size_t i = 0; status == TAPML_OK; i++) {
        struct component *found = registry_find(model->registry, TAPML_KIND_MODEL, i);

        if (found == NULL) {
            break;
        }
        if (strcmp(found->entry.component, subject->component) == 0 &&
            strcmp(found->entry.plugin, subject->manifest.id) == 0) {
            model->component = found;
            return 1;
        }
    }
    kit_result_fail(io_result, "%s",
                    status != TAPML_OK ? status_message()
                                       : "a host does not find the architecture, or refuses it: "
                                         "'tapml-host plugins' says why");
    return 0;
}

tapml_status kit_model_match(const struct kit_model *model, const char *config, uint32_t *out_score)
{
    struct component *component = model->component;
    const tapml_model *table = component->table;
    struct config *parsed = NULL;
    uint32_t score = 0;

    TAPML_TRY(config_parse("config.json", config, &parsed));
    services_begin(&component->call);
    const tapml_status status =
        services_end(&component->call,
                     table->match(component->root, &component->call, config_object(parsed), &score),
                     component->entry.component, "match");

    config_close(parsed);
    *out_score = status == TAPML_OK ? score : 0;
    return status;
}

// -- A configuration ---------------------------------------------------------------------------

static int read_own(const struct kit_subject *subject,
                    const char *program,
                    struct kit_result *io_result,
                    struct kit_model *model)
{
    char *folder = NULL, *path = NULL;
    size_t size = 0;
    tapml_status status = model_path_find(program, subject->model, &folder);

    if (status == TAPML_OK) {
        path = file_join(folder, "config.json");
        status = path != NULL ? file_read(path, CONFIG_BYTES_MAX, &model->config, &size)
                              : status_no_memory();
    }
    alloc_free(path);
    alloc_free(folder);
    (void)snprintf(model->name, sizeof(model->name), "%.100s", subject->model);
    if (status != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
    return status == TAPML_OK;
}

// The smallest of the published models that the architecture knows best.
static void find_published(struct kit_model *model, const struct published *list)
{
    uint32_t best = 0;
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < published_count(list); i++) {
        const struct published_model *entry = published_at(list, i);
        const int64_t size = entry->parameters > 0 ? entry->parameters : INT64_MAX;
        uint32_t score = 0;
        struct text text;

        text_init(&text);
        json_file_print(&text, entry->config, JSON_COMPACT);
        if (entry->refused == NULL && text_status(&text) == TAPML_OK &&
            kit_model_match(model, text.data, &score) == TAPML_OK && score > 0 &&
            (score > best || (score == best && size < least))) {
            alloc_free(model->config);
            model->config = alloc_text(text.data);
            (void)snprintf(model->name, sizeof(model->name), "%.100s", entry->name);
            best = score;
            least = size;
        }
        text_release(&text);
    }
}

static int find_config(const struct kit_subject *subject,
                       struct kit_result *io_result,
                       struct kit_model *model)
{
    char path[PATH_MAX];
    const char *program = file_of_program(path, sizeof(path));
    struct published *list = NULL;

    if (subject->model != NULL) {
        return read_own(subject, program, io_result, model);
    }
    if (model_list_open(program, &list) == TAPML_OK) {
        find_published(model, list);
    }
    published_close(list);
    if (model->config == NULL) {
        kit_result_skip(io_result, "it knows no published model: --model PATH gives it one");
    }
    return model->config != NULL;
}

int kit_model_open(const struct kit_subject *subject,
                   struct kit_result *io_result,
                   struct kit_model *out_model)
{
    *out_model = (struct kit_model){.registry = NULL};
    return open_registry(subject, io_result, out_model) &&
           find_config(subject, io_result, out_model);
}

void kit_model_close(struct kit_model *model)
{
    alloc_free(model->config);
    registry_destroy(model->registry);
    *model = (struct kit_model){.registry = NULL};
}

tapml_status kit_model_build(const struct kit_model *model,
                             const char *config,
                             const char *folder,
                             struct model **out_model)
{
    const struct model_options options = {.folder = folder != NULL ? folder : model->name,
                                          .config = folder == NULL ? config : NULL,
                                          .architecture = model->component->entry.component,
                                          .without_weights = folder == NULL};

    return model_open(model->registry, &options, out_model);
}

// -- Weights of zeros --------------------------------------------------------------------------

static int is_named(const struct graph_value *value, const char *name)
{
    return name != NULL && strcmp(value->name, name) == 0;
}

// Appends the entry of a weight; returns its bytes.
static uint64_t describe(const struct graph_value *value,
                         const struct kit_model_change *change,
                         uint64_t begin,
                         struct text *out)
{
    uint64_t bytes = sizeof(float);

    text_format(out, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[", begin > 0 ? "," : "", value->name);
    for (uint32_t axis = 0; axis < value->rank; axis++) {
        const int64_t extent =
            value->shape[axis].constant + (axis == 0 && is_named(value, change->longer));

        text_format(out, "%s%" PRId64, axis > 0 ? "," : "", extent);
        bytes *= (uint64_t)extent;
    }
    text_format(out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin, begin + bytes);
    return bytes;
}

// Sets `*out_bytes` to those of all weights, each name once.
static tapml_status describe_all(const struct graph *graph,
                                 const struct kit_model_change *change,
                                 struct text *out,
                                 uint64_t *out_bytes)
{
    struct table names;
    tapml_status status = TAPML_OK;
    uint64_t bytes = 0;
    size_t seen = 0;

    table_init(&names);
    text_format(out, "{");
    for (uint32_t i = 0; status == TAPML_OK && i < graph->value_count; i++) {
        const struct graph_value *value = &graph->values[i];

        if (value->kind == GRAPH_WEIGHT && value->base == i && !is_named(value, change->lacks) &&
            !table_find(&names, value->name, &seen)) {
            bytes += describe(value, change, bytes, out);
            status = table_set(&names, value->name, i);
        }
    }
    text_format(out, "}");
    while (out->length % 8 != 0 && text_status(out) == TAPML_OK) {
        text_format(out, " ");
    }
    table_release(&names);
    *out_bytes = bytes;
    return status == TAPML_OK ? text_status(out) : status;
}

static tapml_status write_zeros(const char *path, const struct text *header, uint64_t bytes)
{
    const uint64_t length = header->length; // Of a little-endian machine, as all are that run it.
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int is_written = file >= 0 &&
                           write(file, &length, sizeof(length)) == (ssize_t)sizeof(length) &&
                           write(file, header->data, header->length) == (ssize_t)header->length &&
                           ftruncate(file, (off_t)(sizeof(length) + length + bytes)) == 0;
    const int error = errno;

    if (file >= 0) {
        (void)close(file);
    }
    return is_written ? TAPML_OK : status_fail(TAPML_UNAVAILABLE, "%s: %s", path, strerror(error));
}

tapml_status kit_model_write(const struct kit_model *model,
                             const struct graph *graph,
                             const struct kit_model_change *change,
                             const char *folder)
{
    char *config = file_join(folder, "config.json");
    char *weights = file_join(folder, "model.safetensors");
    struct text header;

    text_init(&header);
    uint64_t bytes = 0;
    tapml_status status = config == NULL || weights == NULL
                              ? status_no_memory()
                              : describe_all(graph, change, &header, &bytes);

    if (status == TAPML_OK) {
        status = file_write(config, model->config, strlen(model->config));
    }
    if (status == TAPML_OK) {
        status = write_zeros(weights, &header, bytes);
    }
    text_release(&header);
    alloc_free(config);
    alloc_free(weights);
    return status;
}
