// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// INI files: sections of keys and values, in the order of the file.
//
// inih cuts long lines and joins indented ones without a word, so raw lines are checked first:
// section names and keys under 50 bytes, values under 190, nothing indented, no NUL byte.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct ini_entry {
    const char *section; // "target.gpu"
    const char *key;
    const char *value;
    unsigned line;
};

struct ini {
    struct arena *arena;
    const char *name; // For messages.
    struct ini_entry *entries;
    size_t count;
    const char **sections; // Each once, in order; also those without keys.
    size_t section_count;
};

// Reads a file, or a text that `name` stands for in messages. Errors: "run.ini:7: ...".
tapml_status ini_load(const char *path, struct ini *out_ini) STATUS_USED;
tapml_status
ini_parse(const char *name, const char *text, size_t size, struct ini *out_ini) STATUS_USED;
void ini_release(struct ini *ini);

// The last value of `key` in `section`, or NULL.
const char *ini_get(const struct ini *ini, const char *section, const char *key);
int ini_has_section(const struct ini *ini, const char *section);
