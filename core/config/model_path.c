// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/model_path.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "config/model_list.h"
#include "model/hub.h"

#include <stdlib.h>
#include <string.h>

// A variable that names a folder, and where the cache is below it.
struct cache_place {
    const char *variable;
    const char *below;
};

static const struct cache_place places[] = {
    {"HF_HUB_CACHE", ""},
    {"HF_HOME", "hub"},
    {"XDG_CACHE_HOME", "huggingface/hub"},
    {"HOME", ".cache/huggingface/hub"},
};

// Looks in one cache, and appends to `looked` where that was. `*out_folder` stays if it has no such
// model.
static tapml_status
look_in(const struct cache_place *place, const char *id, struct text *looked, char **out_folder)
{
    const char *root = secure_getenv(place->variable);

    if (root == NULL || root[0] != '/') {
        return TAPML_OK;
    }
    char *cache = place->below[0] != '\0' ? file_join(root, place->below) : alloc_text(root);

    if (cache == NULL) {
        return status_no_memory();
    }
    text_format(looked, "%s'%s'", looked->length > 0 ? ", " : "", cache);
    const tapml_status status = hub_find(cache, id, out_folder);

    alloc_free(cache);
    return status == TAPML_NOT_FOUND ? TAPML_OK : status;
}

static tapml_status look_in_all(const char *id, struct text *looked, char **out_folder)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(*places) && *out_folder == NULL; i++) {
        TAPML_TRY(look_in(&places[i], id, looked, out_folder));
    }
    return text_status(looked);
}

// The folder of `id`; `origin` says in a message where the id comes from.
static tapml_status
find_on_hub(const char *word, const char *id, const char *origin, char **out_folder)
{
    struct text looked;
    char *folder = NULL;

    text_init(&looked);
    tapml_status status = look_in_all(id, &looked, &folder);

    if (status == TAPML_OK && folder == NULL) {
        status =
            status_fail(TAPML_NOT_FOUND,
                        "model '%s': expected a folder, found nothing; '%s'%s is not in the "
                        "hub's local cache either, looked in %s; 'hf download %s' downloads it",
                        word, id, origin, looked.length > 0 ? looked.data : "no folder", id);
    }
    text_release(&looked);
    if (status != TAPML_OK) {
        alloc_free(folder);
        return status;
    }
    *out_folder = folder;
    return TAPML_OK;
}

static tapml_status no_such_name(const struct published *list, const char *word)
{
    const char *near = published_nearest(list, word);

    return status_fail(TAPML_NOT_FOUND,
                       "model '%s': expected a folder, found nothing, and no published model has "
                       "that name%s%s%s",
                       word, near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
}

static tapml_status
find_published(const struct published *list, const char *word, char **out_folder)
{
    const struct published_model *model = published_find(list, word);
    char origin[512];

    if (model == NULL) {
        return no_such_name(list, word);
    }
    if (model->hub == NULL) {
        return status_fail(TAPML_NOT_FOUND,
                           "model '%s': expected a folder, found nothing, and %s knows no folder "
                           "of that model on the hub",
                           word, model->file);
    }
    (void)snprintf(origin, sizeof(origin), ", of '%s' in %.400s,", model->name, model->file);
    return find_on_hub(word, model->hub, origin, out_folder);
}

static tapml_status find_name(const char *program, const char *word, char **out_folder)
{
    struct published *list = NULL;
    tapml_status status = model_list_open(program, &list);

    if (status != TAPML_OK) {
        return status_explain(status,
                              "model '%s': expected a folder, found nothing, and no list "
                              "of published models can be read",
                              word);
    }
    status = find_published(list, word, out_folder);
    published_close(list);
    return status;
}

tapml_status model_path_find(const char *program, const char *word, char **out_folder)
{
    if (!file_exists(word) && hub_is_id(word)) {
        return find_on_hub(word, word, "", out_folder);
    }
    if (!file_exists(word) && strchr(word, '/') == NULL && word[0] != '\0') {
        return find_name(program, word, out_folder);
    }
    *out_folder = alloc_text(word);
    return *out_folder != NULL ? TAPML_OK : status_no_memory();
}
