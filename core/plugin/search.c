// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/search.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"
#include "plugin/note.h"

#include <tapml/abi.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARKER_BYTES_MAX = 1 << 16, FOLDER_FILES_MAX = 4096 };

static const char section[] = "plugins";
static const char suffix[] = ".tapml";
static const char marker[] = "tapml-build.plugins";
static const char below_data[] = "tapml/1/plugins";

// What one run of the search carries along.
struct search_walk {
    const struct search_options *options;
    struct search *search;
    unsigned tiers; // Bit n: tier n is searched.
};

int search_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

static int searches(const struct search_walk *walk, unsigned tier)
{
    return (walk->tiers >> tier & 1u) != 0;
}

// -- Trust -------------------------------------------------------------------------------------

// A path as the system follows it, name by name.
struct trail {
    char done[PATH_MAX]; // Without a symbolic link; "" is the root.
    char rest[PATH_MAX];
    unsigned link_count;
    int is_secure;
    mode_t writers; // Who must not be able to write it.
};

static tapml_status check_one(const struct trail *trail, struct stat *out_about)
{
    const char *path = trail->done[0] ? trail->done : "/";
    if (lstat(path, out_about) != 0) {
        return status_fail(TAPML_PRECONDITION, "'%s': %s", path, strerror(errno));
    }
    if (out_about->st_uid != 0 && (trail->is_secure || out_about->st_uid != geteuid())) {
        return status_fail(TAPML_PRECONDITION, "'%s' belongs to user %lu, expected root%s", path,
                           (unsigned long)out_about->st_uid,
                           trail->is_secure ? "" : " or the user who runs this");
    }
    const int is_last = trail->rest[strspn(trail->rest, "/")] == '\0';
    const int is_sticky = S_ISDIR(out_about->st_mode) && (out_about->st_mode & S_ISVTX) != 0;
    // The permissions of a link mean nothing: who can change it is said by its folder.
    if (!S_ISLNK(out_about->st_mode) && (out_about->st_mode & trail->writers) != 0 &&
        (is_last || !is_sticky)) {
        return status_fail(TAPML_PRECONDITION, "'%s' can be written by %s", path,
                           trail->writers == S_IWOTH ? "all users" : "its group or by others");
    }
    return TAPML_OK;
}

static tapml_status trail_too_long(const struct trail *trail)
{
    return status_fail(TAPML_PRECONDITION, "'%s': its path is too long, or has too many links",
                       trail->done);
}

static void trail_up(struct trail *trail)
{
    char *slash = strrchr(trail->done, '/');
    if (slash) {
        *slash = '\0';
    }
}

// Moves the next name to what is done. Returns 0 at the end.
static int trail_next(struct trail *trail, tapml_status *out_status)
{
    const char *name = trail->rest + strspn(trail->rest, "/");
    const size_t length = strcspn(name, "/");
    const size_t done = strlen(trail->done);
    *out_status = TAPML_OK;
    if (length == 2 && name[0] == '.' && name[1] == '.') {
        trail_up(trail);
    } else if (length > 1 || (length == 1 && name[0] != '.')) {
        if (done + length + 2 > sizeof(trail->done)) {
            *out_status = trail_too_long(trail);
            return 0;
        }
        trail->done[done] = '/';
        memcpy(trail->done + done + 1, name, length);
        trail->done[done + 1 + length] = '\0';
    }
    memmove(trail->rest, name + length, strlen(name + length) + 1);
    return length > 0;
}

// Puts what a link says before the rest.
static tapml_status trail_follow(struct trail *trail)
{
    enum { LINKS_MAX = 40 };
    char target[PATH_MAX];
    const ssize_t length = readlink(trail->done, target, sizeof(target));
    const size_t rest = strlen(trail->rest) + 1;
    if (length < 0) {
        return status_fail(TAPML_PRECONDITION, "'%s': %s", trail->done, strerror(errno));
    }
    if (++trail->link_count > LINKS_MAX || (size_t)length + 1 + rest > sizeof(trail->rest)) {
        return trail_too_long(trail);
    }
    memmove(trail->rest + length + 1, trail->rest, rest);
    memcpy(trail->rest, target, (size_t)length);
    trail->rest[length] = '/';
    if (target[0] == '/') {
        trail->done[0] = '\0';
    } else {
        trail_up(trail);
    }
    return TAPML_OK;
}

static tapml_status check_trail(const char *path, int is_secure, mode_t writers)
{
    struct trail trail = {.is_secure = is_secure, .writers = writers};
    struct stat about;
    char *whole = path[0] == '/' ? NULL : realpath(path, NULL);
    if (path[0] != '/' && !whole) {
        return status_fail(TAPML_PRECONDITION, "'%s': %s", path, strerror(errno));
    }
    const int length = snprintf(trail.rest, sizeof(trail.rest), "%s", whole ? whole : path);
    free(whole);
    if ((size_t)length >= sizeof(trail.rest)) {
        return trail_too_long(&trail);
    }
    tapml_status status = check_one(&trail, &about);
    while (status == TAPML_OK && trail_next(&trail, &status)) {
        status = check_one(&trail, &about);
        if (status == TAPML_OK && S_ISLNK(about.st_mode)) {
            status = trail_follow(&trail);
        }
    }
    return status;
}

tapml_status search_check_owner(const char *path, int is_secure)
{
    return check_trail(path, is_secure, S_IWGRP | S_IWOTH);
}

tapml_status search_check_others(const char *path)
{
    return check_trail(path, 0, S_IWOTH);
}

// -- [plugins] ---------------------------------------------------------------------------------

// Whether `subject` matches one of the globs under `key`, which may stand there several times.
static int any_word(const struct ini *ini, const char *key, const char *subject)
{
    char word[PATH_MAX];
    for (size_t i = 0; i < ini->count; ++i) {
        if (strcmp(ini->entries[i].section, section) != 0 ||
            strcmp(ini->entries[i].key, key) != 0) {
            continue;
        }
        const char *at = ini->entries[i].value;
        for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
            const size_t length = strcspn(at, " \t");
            if (length < sizeof(word)) {
                memcpy(word, at, length);
                word[length] = '\0';
                if (text_glob(word, subject)) {
                    return 1;
                }
            }
            at += length;
        }
    }
    return 0;
}

tapml_status search_check_policy(const struct ini *ini, const char *id)
{
    if (!ini) {
        return TAPML_OK;
    }
    if (any_word(ini, "deny", id)) {
        return status_fail(TAPML_PRECONDITION, "%s: '%s' is on the list 'deny' of [plugins]",
                           ini->name, id);
    }
    if (ini_get(ini, section, "allow") && !any_word(ini, "allow", id)) {
        return status_fail(TAPML_PRECONDITION, "%s: '%s' is not on the list 'allow' of [plugins]",
                           ini->name, id);
    }
    return TAPML_OK;
}

static tapml_status check_keys(const struct ini *ini)
{
    static const char *const known[] = {"allow", "deny", "load", "tiers", NULL};
    for (size_t i = 0; i < ini->count; ++i) {
        const struct ini_entry *entry = &ini->entries[i];
        int is_known = strcmp(entry->section, section) != 0;
        for (size_t k = 0; known[k] && !is_known; ++k) {
            is_known = strcmp(entry->key, known[k]) == 0;
        }
        if (!is_known) {
            return status_fail(
                TAPML_INVALID,
                "%s:%u: unknown key '%s' in [plugins], known are: allow deny load tiers", ini->name,
                entry->line, entry->key);
        }
    }
    return TAPML_OK;
}

static tapml_status read_tiers(const struct ini *ini, unsigned *out_tiers)
{
    const char *value = ini ? ini_get(ini, section, "tiers") : NULL;
    unsigned tiers = 0;
    if (!value) {
        return TAPML_OK;
    }
    for (const char *at = value; *at; ++at) {
        if (*at >= '1' && *at <= '0' + SEARCH_TIERS && strchr(" \t", at[1])) {
            tiers |= 1u << (*at - '0');
        } else if (*at != ' ' && *at != '\t') {
            return status_fail(TAPML_INVALID,
                               "%s: [plugins] tiers: expected numbers from 1 to 4 with blanks "
                               "between, found '%s'",
                               ini->name, value);
        }
    }
    *out_tiers = tiers;
    return TAPML_OK;
}

// -- Candidates --------------------------------------------------------------------------------

// Whether a file is there already: a folder that is reached twice counts once.
static int is_known(const struct search *search, const char *path)
{
    for (size_t i = 0; i < search->count; ++i) {
        if (strcmp(search->items[i].path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

// Adds a candidate and takes `path` over, which may be NULL: no memory.
static tapml_status add(struct search_walk *walk, char *path, struct search_item item)
{
    struct search *search = walk->search;
    if (path && is_known(search, path)) {
        alloc_free(path);
        return TAPML_OK;
    }
    if (!path ||
        !alloc_grow((void **)&search->items, &search->capacity, search->count, sizeof(item))) {
        alloc_free(path);
        return status_no_memory();
    }
    item.path = path;
    search->items[search->count++] = item;
    struct search_item *added = &search->items[search->count - 1];
    if (item.refusal) {
        added->refusal = alloc_text(item.refusal);
        return added->refusal ? TAPML_OK : status_no_memory();
    }
    if (item.is_checked && search_check_owner(path, walk->options->is_secure) != TAPML_OK) {
        added->refusal = alloc_text(status_message());
        return added->refusal ? TAPML_OK : status_no_memory();
    }
    return TAPML_OK;
}

static int is_known_stray(const struct search *search, const char *path)
{
    for (size_t i = 0; i < search->stray_count; ++i) {
        if (strcmp(search->strays[i].path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

// Adds a stray and takes `path` over, which may be NULL: no memory.
static tapml_status
add_stray(struct search_walk *walk, char *path, unsigned tier, const char *problem)
{
    struct search *search = walk->search;
    if (path && is_known_stray(search, path)) {
        alloc_free(path);
        return TAPML_OK;
    }
    if (!path || !alloc_grow((void **)&search->strays, &search->stray_capacity, search->stray_count,
                             sizeof(*search->strays))) {
        alloc_free(path);
        return status_no_memory();
    }
    struct search_stray *stray = &search->strays[search->stray_count++];
    *stray = (struct search_stray){
        .path = path, .tier = tier, .problem = problem ? alloc_text(problem) : NULL};
    return problem && !stray->problem ? status_no_memory() : TAPML_OK;
}

static int has_suffix(const char *name)
{
    return text_ends_with(name, suffix);
}

static int is_manifest_or_library(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (has_suffix(entry->d_name) || text_ends_with(entry->d_name, ".so"));
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

// What the walk does with a folder.
struct search_folder {
    char *path; // Without links.
    unsigned tier;
    int is_checked;
    char *refusal; // Of all its manifests; or NULL.
    int manifest_count;
};

static tapml_status
add_name(struct search_walk *walk, struct search_folder *folder, const char *name)
{
    if (!has_suffix(name)) {
        return add_stray(walk, file_join(folder->path, name), folder->tier, NULL);
    }
    if (folder->manifest_count++ >= FOLDER_FILES_MAX) {
        return TAPML_OK;
    }
    const struct search_item item = {
        .tier = folder->tier, .is_checked = folder->is_checked, .refusal = folder->refusal};
    return add(walk, file_join(folder->path, name), item);
}

static tapml_status add_names(struct search_walk *walk, struct search_folder *folder)
{
    struct dirent **names = NULL;
    const int count = scandir(folder->path, &names, is_manifest_or_library, compare_names);
    tapml_status status = count < 0 && folder->tier == 2
                              ? add_stray(walk, alloc_text(folder->path), 2, strerror(errno))
                              : TAPML_OK;
    for (int i = 0; i < count; ++i) {
        status = status == TAPML_OK ? add_name(walk, folder, names[i]->d_name) : status;
        free(names[i]);
    }
    free(names);
    if (folder->manifest_count > FOLDER_FILES_MAX) {
        log_line(LOG_WARNING, "plugin folder '%s': of its %d manifests the first %d are read",
                 folder->path, folder->manifest_count, FOLDER_FILES_MAX);
    }
    return status;
}

// Takes in all manifests of a folder in byte order. A folder that is not there is no error, but
// told where the user has named it.
static tapml_status
add_folder(struct search_walk *walk, const char *path, unsigned tier, int is_checked)
{
    struct search_folder folder = {
        .path = realpath(path, NULL), .tier = tier, .is_checked = is_checked};
    if (!folder.path) {
        return tier == 2 ? add_stray(walk, alloc_text(path), tier, strerror(errno)) : TAPML_OK;
    }
    // By the name that was given, so that links on the way are seen.
    if (is_checked && search_check_owner(path, walk->options->is_secure) != TAPML_OK) {
        folder.refusal = alloc_text(status_message());
    }
    const tapml_status status = add_names(walk, &folder);
    free(folder.path);
    alloc_free(folder.refusal);
    return status;
}

static tapml_status add_below(
    struct search_walk *walk, const char *folder, const char *name, unsigned tier, int is_checked)
{
    char *whole = file_join(folder, name);
    if (!whole) {
        return status_no_memory();
    }
    const tapml_status status = add_folder(walk, whole, tier, is_checked);
    alloc_free(whole);
    return status;
}

// Calls `add_folder` for each piece of `list` between `separator`s; relative pieces are passed
// over.
static tapml_status add_list(struct search_walk *walk, char *list, char separator, unsigned tier)
{
    for (char *at = list; at;) {
        char *end = strchr(at, separator);
        if (end) {
            *end = '\0';
        }
        if (at[0] == '/') {
            TAPML_TRY(add_folder(walk, at, tier, 0));
        } else if (at[0] != '\0') {
            log_line(LOG_WARNING, "plugin folder '%s' is passed over: it is not absolute", at);
        }
        at = end ? end + 1 : NULL;
    }
    return TAPML_OK;
}

// -- The tiers ---------------------------------------------------------------------------------

static tapml_status add_file(struct search_walk *walk, char *path)
{
    const struct search_item item = {.tier = SEARCH_TIER_NAMED,
                                     .is_library = path && !has_suffix(path)};
    return add(walk, path, item);
}

static tapml_status search_named(struct search_walk *walk)
{
    const struct search_options *options = walk->options;
    for (size_t i = 0; options->files && options->files[i]; ++i) {
        TAPML_TRY(add_file(walk, alloc_text(options->files[i])));
    }
    for (size_t i = 0; options->ini && i < options->ini->count; ++i) {
        const struct ini_entry *entry = &options->ini->entries[i];
        if (strcmp(entry->section, section) != 0 || strcmp(entry->key, "load") != 0) {
            continue;
        }
        char *folder = file_folder(options->ini_path ? options->ini_path : "");
        if (!folder) {
            return status_no_memory();
        }
        char *path = file_join(folder, entry->value);
        alloc_free(folder);
        TAPML_TRY(add_file(walk, path));
    }
    return TAPML_OK;
}

static tapml_status search_environment(struct search_walk *walk)
{
    const char *list = secure_getenv("TAPML_PLUGIN_PATH");
    if (!list) {
        return TAPML_OK;
    }
    char *copy = alloc_text(list);
    if (!copy) {
        return status_no_memory();
    }
    const tapml_status status = add_list(walk, copy, ':', 2);
    alloc_free(copy);
    return status;
}

static tapml_status search_home(struct search_walk *walk)
{
    const char *data = secure_getenv("XDG_DATA_HOME");
    const char *home = secure_getenv("HOME");
    if (data && data[0] == '/') {
        return add_below(walk, data, below_data, 3, 1);
    }
    if (home && home[0] == '/') {
        return add_below(walk, home, ".local/share/tapml/1/plugins", 3, 1);
    }
    return TAPML_OK;
}

// The folders that the marker beside the executable names. `*out_found` says whether it is there.
static tapml_status search_build_tree(struct search_walk *walk, const char *folder, int *out_found)
{
    char *path = file_join(folder, marker);
    char *list = NULL;
    size_t size = 0;
    if (!path) {
        return status_no_memory();
    }
    *out_found = file_exists(path);
    tapml_status status = TAPML_OK;
    if (*out_found) {
        status = file_read(path, MARKER_BYTES_MAX, &list, &size);
    }
    alloc_free(path);
    if (status == TAPML_OK && list) {
        status = add_list(walk, list, '\n', 4);
    }
    alloc_free(list);
    return status;
}

static tapml_status search_beside(struct search_walk *walk, const char *folder)
{
    char below[PATH_MAX];
    snprintf(below, sizeof(below), "../lib/%s/%s", note_host_arch(), below_data);
    TAPML_TRY(add_below(walk, folder, below, 4, 1));
    TAPML_TRY(add_below(walk, folder, "../lib/tapml/1/plugins", 4, 1));
    // Where this build installs to, below any prefix: "lib64" on some systems. A folder that is
    // reached twice counts once.
    return add_below(walk, folder, "../" TAPML_LIBDIR "/tapml/1/plugins", 4, 1);
}

static tapml_status search_installed(struct search_walk *walk)
{
    const struct search_options *options = walk->options;
    if (options->is_secure || !options->program) {
        return options->installed ? add_folder(walk, options->installed, 4, 1) : TAPML_OK;
    }
    char *whole = realpath(options->program, NULL);
    char *folder = file_folder(whole ? whole : options->program);
    free(whole);
    if (!folder) {
        return status_no_memory();
    }
    int is_build_tree = 0;
    tapml_status status = search_build_tree(walk, folder, &is_build_tree);
    if (status == TAPML_OK && !is_build_tree && options->installed) {
        status = add_folder(walk, options->installed, 4, 1);
    }
    if (status == TAPML_OK && !is_build_tree) {
        status = search_beside(walk, folder);
    }
    alloc_free(folder);
    return status;
}

// What is named and not searched for is not passed over in silence.
static void say_what_is_ignored(const struct search_options *options, const char *reason)
{
    if ((options->files && options->files[0]) ||
        (options->ini && ini_get(options->ini, section, "load"))) {
        log_line(LOG_WARNING, "plugins named explicitly are ignored: %s", reason);
    }
    // The accessor for variables is deaf under AT_SECURE; only their being there is asked here.
    if (options->is_secure && getenv("TAPML_PLUGIN_PATH")) {
        log_line(LOG_WARNING, "TAPML_PLUGIN_PATH is ignored: this program has elevated privileges");
    }
}

static tapml_status search_tiers(struct search_walk *walk)
{
    if (searches(walk, SEARCH_TIER_NAMED)) {
        TAPML_TRY(search_named(walk));
    }
    if (searches(walk, 2)) {
        TAPML_TRY(search_environment(walk));
    }
    if (searches(walk, 3)) {
        TAPML_TRY(search_home(walk));
    }
    return searches(walk, 4) ? search_installed(walk) : TAPML_OK;
}

tapml_status search_run(const struct search_options *options, struct search *out_search)
{
    const unsigned last = 1u << SEARCH_TIERS;
    struct search search = {0};
    struct search_walk walk = {.options = options, .search = &search, .tiers = 2 * last - 2};
    if (options->ini) {
        TAPML_TRY(check_keys(options->ini));
        TAPML_TRY(read_tiers(options->ini, &walk.tiers));
    }
    if (options->is_secure || options->safe_only) {
        walk.tiers &= last;
    }
    if (!searches(&walk, SEARCH_TIER_NAMED)) {
        say_what_is_ignored(options, options->is_secure ? "this program has elevated privileges"
                                     : options->safe_only
                                         ? "--safe searches the system's folder only"
                                         : "[plugins] tiers does not have tier 1");
    }
    const tapml_status status = search_tiers(&walk);
    if (status != TAPML_OK) {
        search_release(&search);
        return status;
    }
    *out_search = search;
    return TAPML_OK;
}

void search_release(struct search *search)
{
    for (size_t i = 0; i < search->count; ++i) {
        alloc_free(search->items[i].path);
        alloc_free(search->items[i].refusal);
    }
    for (size_t i = 0; i < search->stray_count; ++i) {
        alloc_free(search->strays[i].path);
        alloc_free(search->strays[i].problem);
    }
    alloc_free(search->items);
    alloc_free(search->strays);
    *search = (struct search){0};
}
