// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// From a manifest to an open plugin: nothing is opened before manifest, note and file agree, and
// nothing is believed before the plugin's own words agree with them.
//
// A failure leaves its sentence in base/status and the candidate's state in `out_state`.
//
// One thread.
#pragma once

#include "plugin/candidate.h"
#include "plugin/manifest.h"
#include "plugin/process.h"

#include <tapml/plugin.h>

#include <sys/stat.h>

// Which file stood at a path.
struct handshake_file {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

// Looks at the file at `path`. Returns 0 where there is none.
int handshake_look(const char *path, struct handshake_file *out_file);

// What can be said from the manifest alone: architecture, major, needed minor, sanitizer.
tapml_status handshake_check_manifest(const struct manifest *manifest,
                                      enum candidate_state *out_state) STATUS_USED;

// The rest: compares the library with its manifest, and with `scanned`, what was there when the
// folder was read; opens it, asks it, compares the answer. `library` is absolute. The library stays
// mapped for the life of the process.
tapml_status handshake_open(const char *library,
                            const struct manifest *manifest,
                            const struct handshake_file *scanned,
                            const tapml_plugin **out_plugin,
                            enum candidate_state *out_state) STATUS_USED;

// Around every call that may run a plugin's code for the first time. `handshake_leave` puts back
// what the plugin changed and says so on the log: `who` did it during `what`.
void handshake_enter(struct process_state *out_state);
void handshake_leave(struct process_state *state, const char *who, const char *what);

// Whether a struct demands what this host does not know: the high half of its flags.
int handshake_has_unknown_demands(const tapml_hdr *hdr);
