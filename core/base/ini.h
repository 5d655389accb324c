// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// INI files: sections of keys and values, in the order of the file.
//
// inih silently cuts long lines and joins indented ones, so raw lines are checked first: section
// names and keys below 50 bytes, values below 190, no indentation, no NUL byte. A byte order mark
// and carriage returns are skipped.
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
    const char **sections;   // Each once, in order; also those without keys.
    unsigned *section_lines; // Where each begins for the first time.
    size_t section_count;
};

// Reads a file. The caller releases the result. The first wrong line is TAPML_INVALID, with a
// message such as "run.ini:7: ...".
tapml_status ini_load(const char *path, struct ini *out_ini) STATUS_USED;

// As ini_load, for a text of `size` bytes; messages use `name` for the file.
tapml_status
ini_parse(const char *name, const char *text, size_t size, struct ini *out_ini) STATUS_USED;

// Frees all entries. A zeroed `ini` is allowed.
void ini_release(struct ini *ini);

// Receives one problem, such as "run.ini:7: ..."; `sentence` lives during the call.
typedef void (*ini_problem_fn)(void *user, const char *sentence);

// As ini_load, but continues after errors: `report` receives each wrong line, which is left out. If
// the name of a section cannot be read, its entries are left out too.
tapml_status
ini_survey(const char *path, ini_problem_fn report, void *user, struct ini *out_ini) STATUS_USED;

// Returns the last entry of `key` in `section`, or NULL.
const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key);

// Returns the value of the last entry of `key` in `section`, or NULL.
const char *ini_get(const struct ini *ini, const char *section, const char *key);

// Whether the file has this section, even if it has no keys.
int ini_has_section(const struct ini *ini, const char *section);
