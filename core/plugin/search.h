// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where plugins are looked for: four tiers of folders, and files that the user names.
//
//   1  --plugin FILE, and `load =` of [plugins] in the run's INI
//   2  TAPML_PLUGIN_PATH, folders separated by ':'
//   3  $XDG_DATA_HOME/tapml/1/plugins, or ~/.local/share/tapml/1/plugins
//   4  the installed folder, and those beside the executable; in a build tree, that tree's
//
// Nothing else is searched, and relative folders are passed over. Under AT_SECURE tiers 1 to 3 and
// the build tree are ignored, and a line on the log says what was.
//
// One thread: the environment is read.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct ini;

enum { SEARCH_TIERS = 4 };

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
    char *path;     // Absolute where the folder was.
    unsigned tier;  // 1 to 4.
    int is_library; // A library rather than a manifest; tier 1 only.
    int is_checked; // Owner and permissions matter here: tiers 3 and 4 but the build tree.
    char *refusal;  // Why its folder or the manifest is not trusted, or NULL.
};

struct search {
    struct search_item *items; // By tier, then folder, then byte order of the file names.
    size_t count;
    size_t capacity;
};

// Whether the process runs with rights that its user does not have.
int search_is_secure(void);

// Fails for a [plugins] section that cannot be understood and for want of memory; what is not there
// is passed over. The caller releases `out_search`.
tapml_status search_run(const struct search_options *options,
                        struct search *out_search) STATUS_USED;
void search_release(struct search *search);

// Whether `path`, all folders above it and all symbolic links on the way, with the folders that
// they lie in and lead through, belong to root or, unless `is_secure`, to this user, and no
// other user can write them. A folder with the sticky bit passes as one that is above: others
// cannot touch what is not theirs in it. TAPML_PRECONDITION names what can.
tapml_status search_check_owner(const char *path, int is_secure) STATUS_USED;

// Whether [plugins] lets a plugin of this id in: not on `deny`, and on `allow` where there is one.
// Both are lists of globs. TAPML_PRECONDITION says which key is against it.
tapml_status search_check_policy(const struct ini *ini, const char *id) STATUS_USED;
