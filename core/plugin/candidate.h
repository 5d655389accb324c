// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A result of the search for plugins: a plugin, or a component of a plugin, in one state, with a
// sentence that gives the reason.
//
// Plain data that the registry owns. Any thread may call the functions; nothing fails.
#pragma once

enum candidate_state {
    CANDIDATE_USABLE,
    CANDIDATE_SHADOWED,  // The same id in an earlier tier.
    CANDIDATE_DUPLICATE, // The same id twice in one tier.
    CANDIDATE_MALFORMED, // The manifest or the file cannot be read.
    CANDIDATE_REFUSED,   // By policy: owner, permissions, RPATH, deny list, changed op schema.
    CANDIDATE_WRONG_ARCH,
    CANDIDATE_WRONG_ABI,    // Major, needed minor, struct sizes, sanitizer.
    CANDIDATE_MISMATCH,     // Manifest, note and library disagree.
    CANDIDATE_UNKNOWN_KIND, // A component of a kind that this host does not know.
    CANDIDATE_NO_DRIVER,    // TAPML_UNAVAILABLE from probe.
    CANDIDATE_NO_DEVICE,    // The driver works, but has no device.
    CANDIDATE_PROBE_FAILED,
    CANDIDATE_REPLACED,    // The library changed since the scan.
    CANDIDATE_NO_MANIFEST, // A library in a folder of plugins that no manifest there names.
    CANDIDATE_NO_FOLDER    // A folder to be searched that cannot be read.
};

// One line of `tapml-host plugins`. The texts live as long as the registry.
struct candidate {
    const char *plugin;    // Id, or the manifest's path if it has none.
    const char *version;   // Or "".
    const char *component; // Id, or "" for the plugin as a whole.
    const char *kind;      // Or "".
    const char *title;     // Or "".
    const char *manifest;  // Path.
    const char *library;   // Absolute path, or "" if it cannot be read.
    unsigned tier;         // 1 to 4.
    enum candidate_state state;
    const char *sentence; // The reason; if usable, what was not tried, or "".
    const char *remark;   // What is doubtful of its files, and what its code changed of the process
                          // until it was created; or "".
};

// Whether `id` is that of its plugin or of its component. NULL is of any.
int candidate_is_named(const struct candidate *candidate, const char *id);

// "usable", "wrong-abi"; "unknown" if `state` is none of the states. Static text.
const char *candidate_state_name(enum candidate_state state);

// The state of this name; CANDIDATE_PROBE_FAILED if there is none.
enum candidate_state candidate_state_from(const char *name);
