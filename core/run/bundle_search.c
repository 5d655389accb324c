// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/bundle_search.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "run/interrupt.h"
#include "store/store.h"
#include "store/store_open.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, ID_DIGITS_MIN = 8 };

static const char suffix[] = ".tapmlrun";

// -- Files -------------------------------------------------------------------------------------

static tapml_status
append(struct bundle_search *search, const char *path, const struct bundle_tags *tags)
{
    void *items = search->items;
    const char *kept = arena_text(search->arena, path);

    if (kept == NULL ||
        !alloc_grow(&items, &search->capacity, search->count, sizeof(*search->items))) {
        return status_no_memory();
    }
    search->items = items;
    search->items[search->count++] = (struct bundle_found){kept, *tags};
    return TAPML_OK;
}

static tapml_status
take(struct bundle_search *search, const char *path, struct store *store, int *out_is)
{
    struct bundle_tags tags;

    *out_is = bundle_tags_has(store);
    if (!*out_is) {
        return TAPML_OK;
    }
    TAPML_TRY(bundle_tags_read(store, search->arena, &tags));
    const int is_wanted = bundle_tags_meet(&tags, search->conditions, search->condition_count);
    const tapml_status status = is_wanted ? append(search, path, &tags) : TAPML_OK;

    if (!is_wanted || status != TAPML_OK) {
        bundle_tags_release(&tags);
    }
    return status;
}

static tapml_status read_file(struct bundle_search *search, const char *path, int *out_is)
{
    struct store *store = NULL;

    TAPML_TRY(store_open_to_read(path, &store));
    tapml_status status = store_begin_to_read(store);

    if (status == TAPML_OK) {
        status = take(search, path, store, out_is);
        store_rollback(store);
    }
    store_close(store);
    return status;
}

// -- Folders -----------------------------------------------------------------------------------

static int has_suffix(const char *path)
{
    const size_t length = strlen(path);

    return length > sizeof(suffix) - 1 && strcmp(path + length - (sizeof(suffix) - 1), suffix) == 0;
}

static tapml_status read_in_folder(struct bundle_search *search, const char *path)
{
    int is_bundle = 0;
    const tapml_status status = read_file(search, path, &is_bundle);

    if (status == TAPML_OK || status == TAPML_NO_MEMORY || status == TAPML_CANCELLED) {
        return status;
    }
    log_line(LOG_WARNING, "not searched: %s", status_message());
    search->unreadable++;
    return TAPML_OK;
}

static tapml_status add_folder(struct bundle_search *search, const char *folder, int depth);

static tapml_status add_entry(struct bundle_search *search, const char *path, int depth)
{
    TAPML_TRY(interrupt_check());
    if (file_is_link(path)) {
        return TAPML_OK;
    }
    if (file_is_folder(path)) {
        return depth < DEPTH_MAX ? add_folder(search, path, depth + 1) : TAPML_OK;
    }
    return has_suffix(path) ? read_in_folder(search, path) : TAPML_OK;
}

static tapml_status add_folder(struct bundle_search *search, const char *folder, int depth)
{
    struct folder_names names;
    tapml_status status = folder_list(folder, &names);

    for (size_t i = 0; status == TAPML_OK && i < names.count; i++) {
        status = add_entry(search, names.items[i], depth);
    }
    folder_release(&names);
    return status;
}

tapml_status bundle_search_add(struct bundle_search *search, const char *path)
{
    int is_bundle = 0;

    if (!file_exists(path)) {
        return status_fail(TAPML_NOT_FOUND, "there is no file or folder '%s'", path);
    }
    if (file_is_folder(path)) {
        return add_folder(search, path, 0);
    }
    TAPML_TRY(read_file(search, path, &is_bundle));
    return is_bundle ? TAPML_OK
                     : status_fail(TAPML_INVALID,
                                   "'%s' is the store of a run, expected a bundle or a pack", path);
}

tapml_status bundle_search_add_all(struct bundle_search *search)
{
    const char *list = secure_getenv(BUNDLE_SEARCH_VARIABLE);

    if (list == NULL || *list == '\0') {
        return bundle_search_add(search, ".");
    }
    while (*list != '\0') {
        const size_t length = strcspn(list, ":");
        const char *folder = arena_format(search->arena, "%.*s", (int)length, list);

        if (folder == NULL) {
            return status_no_memory();
        }
        TAPML_TRY(file_exists(folder) ? bundle_search_add(search, folder) : TAPML_OK);
        list += length;
        list += strspn(list, ":");
    }
    return TAPML_OK;
}

void bundle_search_release(struct bundle_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        bundle_tags_release(&search->items[i].tags);
    }
    alloc_free(search->items);
    search->items = NULL;
    search->count = search->capacity = 0;
}

// -- By id -------------------------------------------------------------------------------------

int bundle_search_is_id(const char *word)
{
    const size_t length = strlen(word);

    return length >= ID_DIGITS_MIN && length < HASH_TEXT &&
           strspn(word, "0123456789abcdef") == length;
}

tapml_status bundle_search_find(struct bundle_search *search, const char *id, const char **out_path)
{
    const struct bundle_condition condition = {.key = "id", .value = id};

    search->conditions = &condition;
    search->condition_count = 1;
    const tapml_status status = bundle_search_add_all(search);

    search->conditions = NULL;
    search->condition_count = 0;
    TAPML_TRY(status);
    if (search->count == 0) {
        return status_fail(TAPML_NOT_FOUND,
                           "there is no file '%s', and no bundle or pack of this id in "
                           "$" BUNDLE_SEARCH_VARIABLE " or the current folder",
                           id);
    }
    for (size_t i = 1; i < search->count; i++) {
        if (strcmp(search->items[i].tags.id, search->items[0].tags.id) != 0) {
            return status_fail(TAPML_INVALID, "'%s' begins the ids of '%s' and of '%s'", id,
                               search->items[0].path, search->items[i].path);
        }
    }
    *out_path = search->items[0].path;
    return TAPML_OK;
}
