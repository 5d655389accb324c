// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// From a manifest to an open plugin: a library is opened only if manifest, note and file agree, and
// used only if the plugin's own description agrees with them.
//
// A failure sets the message of base/status and the candidate's state in `*out_state`.
//
// One thread.
#pragma once

#include "plugin/candidate.h"
#include "plugin/manifest.h"
#include "plugin/process.h"

#include <tapml/plugin.h>

#include <sys/stat.h>

// Identifies the file that was at a path.
struct handshake_file {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

// Reads which file is at `path`. Returns 0 if there is none.
int handshake_look(const char *path, struct handshake_file *out_file);

// Checks what needs the manifest only: architecture, major, needed minor, sanitizer.
tapml_status handshake_check_manifest(const struct manifest *manifest,
                                      enum candidate_state *out_state) STATUS_USED;

// Checks RPATH and RUNPATH, joined by ':', or NULL: they name folders from which strangers'
// libraries would come.
tapml_status handshake_check_search_path(const char *path) STATUS_USED;

// Checks what needs the library's file and none of its code: that it is `scanned`, the file when
// the folder was read, and what its note, its build-id and its search path say against the
// manifest.
tapml_status handshake_check_library(const char *library,
                                     const struct manifest *manifest,
                                     const struct handshake_file *scanned,
                                     enum candidate_state *out_state) STATUS_USED;

// Checks the rest: compares the library with its manifest, and with `scanned`, the file when the
// folder was read; opens it, queries its description and compares that too. `library` is absolute.
// The library stays mapped for the life of the process. What it changed of the process is appended
// to `remark`.
tapml_status handshake_open(const char *library,
                            const struct manifest *manifest,
                            const struct handshake_file *scanned,
                            struct text *remark,
                            const tapml_plugin **out_plugin,
                            enum candidate_state *out_state) STATUS_USED;

// The checks of a description that `handshake_open` makes: that of the structs and the ABI, and
// that of its words against the manifest. TAPML_ABI_MISMATCH, TAPML_INVALID.
tapml_status handshake_check_sizes(const tapml_plugin *plugin) STATUS_USED;
tapml_status handshake_compare_words(const struct manifest *manifest,
                                     const tapml_plugin *plugin) STATUS_USED;

// To be called before and after every call that may run a plugin's code for the first time.
// `handshake_leave` restores the process state that the plugin changed, logs the change and appends
// it to `remark`; `who` and `what` name the plugin and the call.
void handshake_enter(struct process_state *out_state);
void handshake_leave(struct process_state *state,
                     const char *who,
                     const char *what,
                     struct text *remark);

// Whether a struct requires a feature that this host does not have: a flag in the high half.
int handshake_has_unknown_demands(const tapml_hdr *hdr);
