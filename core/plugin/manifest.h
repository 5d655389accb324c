// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The manifest of a plugin, <id>.tapml: its description, readable without opening the library.
//
// The author of the plugin writes plugin.ini; the build puts that text into the library's note and,
// after linking, into a file beside the library, with arch, build-id and sanitizer. Unknown keys
// are kept and ignored.
//
// One thread. TAPML_INVALID, as below, and TAPML_NO_MEMORY.
#pragma once

#include "base/ini.h"
#include "base/status.h"

#include <stdint.h>

struct note;

struct manifest_component {
    const char *id;
    const char *section; // "component.<id>"
    const char *kind;
    const char *title;   // Or "".
    const char *options; // Keys of its options, separated by blanks; or "".
};

struct manifest {
    struct ini ini; // Owns all texts.
    const char *id;
    const char *version;
    const char *library; // A file name in the manifest's folder.
    uint32_t abi_major;
    uint32_t abi_minor; // Needed.
    const char *arch;
    const char *build_id;
    const char *sanitizer; // Or "".
    struct manifest_component *components;
    uint32_t component_count; // At least 1.
};

// Reads `<id>.tapml`. TAPML_INVALID names file, line or key. The caller releases the manifest,
// which owns all texts.
tapml_status manifest_load(const char *path, struct manifest *out_manifest) STATUS_USED;

// Reads the manifest of a library without a manifest file: its note, with arch, build-id and
// sanitizer of the ELF file.
tapml_status manifest_load_library(const char *path, struct manifest *out_manifest) STATUS_USED;

// Reads the text of a note; arch, build-id and sanitizer are "".
tapml_status
manifest_parse_note(const char *path, const char *text, struct manifest *out_manifest) STATUS_USED;
void manifest_release(struct manifest *manifest);

// Checks that a manifest file equals the library's note, key by key and in the same order; arch,
// build-id and sanitizer are in the file only. TAPML_INVALID names the first key that differs.
tapml_status manifest_compare(const struct manifest *file, const struct manifest *note) STATUS_USED;

// The value of `key` in the section of a component, or NULL.
const char *manifest_key(const struct manifest *manifest, const char *component, const char *key);

// Whether an id is that of a draft: `org.example.thing/1-draft2`.
int manifest_is_draft(const char *id);

// Whether the component declares the option `key`.
int manifest_has_option(const struct manifest_component *component, const char *key);
