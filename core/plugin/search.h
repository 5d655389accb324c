// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Searches for plugins: in four tiers of folders, and files that the user names.
//
//   1  --plugin FILE, and `load =` of [plugins] in the run's INI
//   2  TAPML_PLUGIN_PATH, folders separated by ':'
//   3  $XDG_DATA_HOME/tapml/1/plugins, or ~/.local/share/tapml/1/plugins
//   4  the installed folder, and those beside the executable; in a build tree, that tree's
//
// Nothing else is searched, and relative folders are skipped. Under AT_SECURE tiers 1 to 3 and the
// build tree are ignored, and the ignored ones are logged.
//
// One thread, because the environment is read. TAPML_NO_MEMORY, and the failures that a function
// names.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct ini;

// The first tier is that of plugins that are named; the last has what came with the host.
enum { SEARCH_TIER_NAMED = 1, SEARCH_TIERS = 4 };

struct search_options {
    const char *program;      // The running executable.
    const char *installed;    // The folder that the build was configured for.
    const char *const *files; // --plugin, ended by NULL; or NULL.
    const struct ini *ini;    // [plugins]; or NULL.
    const char *ini_path;     // `load` is relative to its folder.
    int safe_only;            // Tier 4 alone.
    int is_secure;            // As `search_is_secure` says.
};

// One candidate.
struct search_item {
    char *path;     // Absolute if the folder was.
    unsigned tier;  // 1 to 4.
    int is_library; // A library rather than a manifest; tier 1 only.
    int is_checked; // Owner and permissions are checked: tiers 3 and 4, not the build tree.
    char *refusal;  // Why its folder or the manifest is not trusted; or NULL.
};

// A library in a folder that was searched, which a manifest there should name; or a folder that the
// user names and that cannot be read.
struct search_stray {
    char *path;
    unsigned tier;
    char *problem; // What is wrong with the folder; NULL: a library.
};

struct search {
    struct search_item *items; // By tier, then folder, then byte order of the file names.
    size_t count;
    size_t capacity;
    struct search_stray *strays; // In the same order.
    size_t stray_count;
    size_t stray_capacity;
};

// Whether the process runs with rights that its user does not have.
int search_is_secure(void);

// Searches all tiers; absent folders and files are no failure. TAPML_INVALID if the section
// [plugins] cannot be read. The caller releases `out_search`.
tapml_status search_run(const struct search_options *options,
                        struct search *out_search) STATUS_USED;
void search_release(struct search *search);

// Whether `path`, all folders above it and all symbolic links on the way, with the folders that
// they lie in and lead through, belong to root or, unless `is_secure`, to this user, and no other
// user can write them. A folder with the sticky bit is accepted above the file, since other users
// cannot replace files of this user in it. TAPML_PRECONDITION names the part that other users can
// change.
tapml_status search_check_owner(const char *path, int is_secure) STATUS_USED;

// The same, but other users of the group may write: what is doubtful about a file that the user has
// chosen.
tapml_status search_check_others(const char *path) STATUS_USED;

// Checks that [plugins] permits a plugin of this id: not on `deny`, and on `allow` if that is set.
// Both are lists of globs. TAPML_PRECONDITION names the key that forbids it.
tapml_status search_check_policy(const struct ini *ini, const char *id) STATUS_USED;
