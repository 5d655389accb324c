// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// INI files: sections of keys and values, in the order of the file.
//
// inih cuts long lines and joins indented ones without a word, so raw lines are checked first:
// section names and keys under 50 bytes, values under 190, nothing indented, no NUL byte. A byte
// order mark and carriage returns are passed over.
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

// Reads a file, or a text that `name` stands for in messages. Errors: "run.ini:7: ...".
tapml_status ini_load(const char *path, struct ini *out_ini) STATUS_USED;
tapml_status
ini_parse(const char *name, const char *text, size_t size, struct ini *out_ini) STATUS_USED;
void ini_release(struct ini *ini);

// Is told a problem: "run.ini:7: ...".
typedef void (*ini_problem_fn)(void *user, const char *sentence);

// As ini_load, but goes on behind what is wrong: each wrong line is told and left out, and the
// entries of a section whose name cannot be read with it.
tapml_status
ini_survey(const char *path, ini_problem_fn tell, void *user, struct ini *out_ini) STATUS_USED;

// The last entry of `key` in `section`, and its value; or NULL.
const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key);
const char *ini_get(const struct ini *ini, const char *section, const char *key);
int ini_has_section(const struct ini *ini, const char *section);
