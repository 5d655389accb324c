// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/published.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/table.h"
#include "base/text.h"
#include "model/hub.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 4096, MODELS_MAX = 1 << 16, TEXT_BYTES_MAX = 256 };

// A file of the list. Texts of its models are in `root`.
struct published_file {
    char *path;
    json_t *root;
};

struct published {
    struct published_file *files;
    size_t file_count;
    size_t file_capacity;
    struct published_model *models;
    size_t count;
    size_t capacity;
    struct table names; // Of models and of their folders on the hub.
};

// The entry that is being read.
struct published_entry {
    const char *file;
    size_t index;
    const char *name; // Once it is known.
    json_t *object;
};

// -- Messages ----------------------------------------------------------------------------------

static tapml_status refuse(const struct published_entry *entry,
                           const char *member,
                           const char *expected,
                           const json_t *found)
{
    struct text text;

    text_init(&text);
    if (entry->name != NULL) {
        text_format(&text, "model '%s'", entry->name);
    } else {
        text_format(&text, "models[%zu]", entry->index);
    }
    text_format(&text, ": %s%s%sexpected %s, found ", member != NULL ? "'" : "",
                member != NULL ? member : "", member != NULL ? "': " : "", expected);
    if (found != NULL) {
        json_file_append(&text, found);
    } else {
        text_append(&text, "nothing");
    }
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        status = status_fail(TAPML_INVALID, "%s: %s", entry->file, text.data);
    }
    text_release(&text);
    return status;
}

// -- Members -----------------------------------------------------------------------------------

static int is_text(const json_t *value)
{
    const char *text = json_string_value(value);
    const size_t length = json_string_length(value);

    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 127) {
            return 0; // A line of a message and of a table stays one line.
        }
    }
    return text != NULL && length > 0 && length <= TEXT_BYTES_MAX;
}

// A text that may be absent, if it is not `needed`.
static tapml_status read_text(const struct published_entry *entry,
                              const json_t *object,
                              const char *member,
                              int needed,
                              const char **out_text)
{
    const json_t *value = json_object_get(object, member);

    if (value == NULL && !needed) {
        return TAPML_OK;
    }
    if (!is_text(value)) {
        return refuse(entry, member, "a text of one line, at most 256 bytes", value);
    }
    *out_text = json_string_value(value);
    return TAPML_OK;
}

static int is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";

    return text[0] != '.' && text[0] != '-' && text[strspn(text, letters)] == '\0';
}

static tapml_status read_names(struct published_entry *entry, struct published_model *model)
{
    const char *name = NULL;

    TAPML_TRY(read_text(entry, entry->object, "name", 1, &name));
    ASSERT(name != NULL); // It is required.
    if (!is_name(name)) {
        return refuse(entry, "name", "small letters, digits, '.', '_', '-'",
                      json_object_get(entry->object, "name"));
    }
    entry->name = name;
    model->name = name;
    TAPML_TRY(read_text(entry, entry->object, "hub", 0, &model->hub));
    if (model->hub != NULL && !hub_is_id(model->hub)) {
        return refuse(entry, "hub", "ORGANISATION/NAME", json_object_get(entry->object, "hub"));
    }
    return TAPML_OK;
}

static tapml_status read_quirks(const struct published_entry *entry, struct published_model *model)
{
    const json_t *list = json_object_get(entry->object, "quirks");
    const size_t count = json_array_size(list);

    if (list != NULL && (!json_is_array(list) || count > PUBLISHED_QUIRKS_MAX)) {
        return refuse(entry, "quirks", "a list of at most 32 texts", list);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *quirk = json_array_get(list, i);

        if (!is_text(quirk)) {
            return refuse(entry, "quirks", "texts of one line, at most 256 bytes", quirk);
        }
        model->quirks[i] = json_string_value(quirk);
    }
    model->quirk_count = count;
    return TAPML_OK;
}

static tapml_status read_parameters(const struct published_entry *entry,
                                    struct published_model *model)
{
    const json_t *value = json_object_get(entry->object, "parameters");

    if (value == NULL) {
        return TAPML_OK;
    }
    if (!json_is_integer(value) || json_integer_value(value) <= 0) {
        return refuse(entry, "parameters", "a whole number above 0", value);
    }
    model->parameters = json_integer_value(value);
    return TAPML_OK;
}

// Refuses members that are not on the list, which ends with NULL.
static tapml_status check_members(const struct published_entry *entry,
                                  json_t *object,
                                  const char *const *members,
                                  const char *expected)
{
    const char *key = NULL;
    json_t *value = NULL;

    json_object_foreach(object, key, value)
    {
        size_t i = 0;

        while (members[i] != NULL && strcmp(members[i], key) != 0) {
            i++;
        }
        if (members[i] == NULL) {
            json_t *found = json_string(key);
            const tapml_status status = refuse(entry, NULL, expected, found);

            json_decref(found);
            return status;
        }
    }
    return TAPML_OK;
}

static tapml_status read_source(const struct published_entry *entry, struct published_model *model)
{
    static const char *const members[] = {"repository", "commit", "path",
                                          "excerpt",    "quoted", NULL};
    json_t *source = json_object_get(entry->object, "source");

    if (!json_is_object(source)) {
        return refuse(entry, "source", "an object", source);
    }
    TAPML_TRY(check_members(entry, source, members,
                            "in 'source' one of repository, commit, path, excerpt, quoted"));
    TAPML_TRY(read_text(entry, source, "repository", 1, &model->repository));
    TAPML_TRY(read_text(entry, source, "commit", 0, &model->commit));
    TAPML_TRY(read_text(entry, source, "path", 1, &model->path));
    for (size_t i = 3; members[i] != NULL; i++) {
        const json_t *value = json_object_get(source, members[i]);

        if (value != NULL && !json_is_true(value)) {
            return refuse(entry, members[i], "true", value);
        }
    }
    return TAPML_OK;
}

static tapml_status read_config(const struct published_entry *entry, struct published_model *model)
{
    const json_t *config = json_object_get(entry->object, "config");
    const json_t *type = json_object_get(config, "model_type");

    if (!json_is_object(config)) {
        return refuse(entry, "config", "an object", config);
    }
    if (!json_is_string(type) || strcmp(json_string_value(type), model->type) != 0) {
        return refuse(entry, "config", "a 'model_type' that is the entry's 'type'", type);
    }
    model->config = config;
    return TAPML_OK;
}

static tapml_status read_model(struct published_entry *entry, struct published_model *model)
{
    static const char *const members[] = {"name",    "hub",     "type",       "tokenizer",
                                          "licence", "refused", "parameters", "quirks",
                                          "source",  "config",  NULL};

    TAPML_TRY(read_names(entry, model));
    TAPML_TRY(check_members(entry, entry->object, members,
                            "one of name, hub, type, tokenizer, licence, refused, parameters, "
                            "quirks, source, config"));
    TAPML_TRY(read_text(entry, entry->object, "type", 1, &model->type));
    TAPML_TRY(read_text(entry, entry->object, "tokenizer", 0, &model->tokenizer));
    TAPML_TRY(read_text(entry, entry->object, "licence", 0, &model->licence));
    TAPML_TRY(read_text(entry, entry->object, "refused", 0, &model->refused));
    TAPML_TRY(read_parameters(entry, model));
    TAPML_TRY(read_quirks(entry, model));
    TAPML_TRY(read_source(entry, model));
    return read_config(entry, model);
}

// -- Files -------------------------------------------------------------------------------------

static tapml_status add_name(struct published *list, const char *name, size_t index)
{
    size_t other = 0;

    if (name == NULL) {
        return TAPML_OK;
    }
    if (table_find(&list->names, name, &other)) {
        return status_fail(TAPML_INVALID, "%s: model '%s': '%s' is in %s already",
                           list->models[index].file, list->models[index].name, name,
                           list->models[other].file);
    }
    return table_set(&list->names, name, index);
}

static tapml_status add_model(struct published *list, struct published_entry *entry)
{
    struct published_model model = {.file = entry->file};

    if (!json_is_object(entry->object)) {
        return refuse(entry, NULL, "an object", entry->object);
    }
    TAPML_TRY(read_model(entry, &model));
    if (!alloc_grow((void **)&list->models, &list->capacity, list->count, sizeof(model))) {
        return status_no_memory();
    }
    list->models[list->count++] = model;
    TAPML_TRY(add_name(list, model.name, list->count - 1));
    return add_name(list, model.hub, list->count - 1);
}

static tapml_status read_file(struct published *list, const struct published_file *file)
{
    const json_t *models = json_object_get(file->root, "models");

    if (!json_is_array(models) || json_object_size(file->root) != 1) {
        return status_fail(TAPML_INVALID, "%s: expected an object with the list 'models' alone",
                           file->path);
    }
    if (json_array_size(models) > MODELS_MAX - list->count) {
        return status_fail(TAPML_INVALID, "%s: expected at most %d models in all, found %zu more",
                           file->path, MODELS_MAX, json_array_size(models));
    }
    for (size_t i = 0; i < json_array_size(models); i++) {
        struct published_entry entry = {
            .file = file->path, .index = i, .object = json_array_get(models, i)};

        TAPML_TRY(add_model(list, &entry));
    }
    return TAPML_OK;
}

// Takes `root` over, whatever comes of it.
static tapml_status add_file(struct published *list, const char *path, json_t *root)
{
    struct published_file file = {.path = alloc_text(path), .root = root};

    if (file.path == NULL ||
        !alloc_grow((void **)&list->files, &list->file_capacity, list->file_count, sizeof(file))) {
        alloc_free(file.path);
        json_decref(root);
        return status_no_memory();
    }
    list->files[list->file_count++] = file;
    return read_file(list, &file);
}

static tapml_status load(struct published *list, const char *folder, const char *name)
{
    json_t *root = NULL;
    char *path = file_join(folder, name);
    tapml_status status = path != NULL ? json_file_load(path, &root) : status_no_memory();

    if (status == TAPML_OK) {
        status = add_file(list, path, root);
    }
    alloc_free(path);
    return status;
}

static int is_list(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && text_glob("*.json", entry->d_name);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static tapml_status load_all(struct published *list, const char *folder)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, is_list, compare_names);
    tapml_status status = TAPML_OK;

    if (count < 0) {
        return status_fail(TAPML_NOT_FOUND, "%s: expected a folder with lists of models, found %s",
                           folder, file_exists(folder) ? "a file" : "nothing");
    }
    if (count > FILES_MAX) {
        status = status_fail(TAPML_INVALID, "%s: expected at most %d lists of models, found %d",
                             folder, FILES_MAX, count);
    }
    for (int i = 0; i < count; i++) {
        status = status == TAPML_OK ? load(list, folder, names[i]->d_name) : status;
        free(names[i]);
    }
    free(names);
    return status;
}

static tapml_status finish(struct published *list, tapml_status status, struct published **out_list)
{
    if (status != TAPML_OK) {
        published_close(list);
        return status;
    }
    *out_list = list;
    return TAPML_OK;
}

tapml_status published_open(const char *folder, struct published **out_list)
{
    struct published *list = alloc_new(sizeof(*list));

    return list != NULL ? finish(list, load_all(list, folder), out_list) : status_no_memory();
}

tapml_status
published_parse(const char *name, const char *text, size_t size, struct published **out_list)
{
    struct published *list = NULL;
    json_t *root = NULL;

    TAPML_TRY(json_file_parse(name, text, size, &root));
    list = alloc_new(sizeof(*list));
    if (list == NULL) {
        json_decref(root);
        return status_no_memory();
    }
    return finish(list, add_file(list, name, root), out_list);
}

void published_close(struct published *list)
{
    if (list == NULL) {
        return;
    }
    for (size_t i = 0; i < list->file_count; i++) {
        alloc_free(list->files[i].path);
        json_decref(list->files[i].root);
    }
    table_release(&list->names);
    alloc_free(list->files);
    alloc_free(list->models);
    alloc_free(list);
}

// -- Questions ---------------------------------------------------------------------------------

size_t published_count(const struct published *list)
{
    return list->count;
}

const struct published_model *published_at(const struct published *list, size_t index)
{
    ASSERT(index < list->count);
    return &list->models[index];
}

const struct published_model *published_find(const struct published *list, const char *word)
{
    size_t index = 0;

    return table_find(&list->names, word, &index) ? &list->models[index] : NULL;
}

const char *published_nearest(const struct published *list, const char *word)
{
    const char **names = alloc_array(list->count + 1, sizeof(*names));
    const char *nearest = NULL;

    for (size_t i = 0; names != NULL && i < list->count; i++) {
        names[i] = list->models[i].name;
    }
    if (names != NULL) {
        nearest = text_nearest(word, names);
    }
    alloc_free(names);
    return nearest;
}
