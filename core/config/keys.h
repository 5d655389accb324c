// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The sections and keys of a run's INI file: one table, from which the file is read and checked
// (config/key_reader.h), a key is explained, and docs/ini.md is written.
//
// To add a key: a member in struct run_config (or in its target or its fault), a row in the table
// of keys.c, and `tapml-host --explain --markdown > docs/ini.md`. What the row says is all:
// reading, range, default, the nearest known and the manual come from it.
#pragma once

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum key_kind {
    KEY_TEXT,   // const char *; NULL where it is absent and has no default.
    KEY_NUMBER, // int64_t
    KEY_REAL,   // double
    KEY_CHOICE, // int: the place of the word among `words`, from 0.
    KEY_OTHERS  // Checked and read by another module.
};

// A row. `section` is a name such as "run", or the beginning "target." of many.
struct key {
    const char *section;
    const char *name;
    enum key_kind kind;
    int is_needed;
    int may_repeat;
    const char *fallback; // The default, as a file would say it; or NULL.
    int64_t low, high;    // KEY_NUMBER: both within; KEY_REAL: above `low`, at most `high`.
    const char *words;    // KEY_CHOICE: with blanks between.
    size_t offset;        // Of the member; KEYS_NOWHERE: it is only checked.
    const char *type;     // KEY_TEXT and KEY_OTHERS, for manuals: "a folder".
    const char *example;  // A value.
    const char *help;     // Sentences.
};

struct key_section {
    const char *name;
    const char *title; // "target.NAME"
    const char *help;
    int takes_any_key; // Somebody else knows them.
};

#define KEYS_NOWHERE ((size_t)-1)

// The tables, in the order of the manual; NULL past the last.
const struct key_section *keys_section_at(size_t index);
const struct key *keys_at(size_t index);

// The section that [name] is, and the key `name` in it; or NULL.
const struct key_section *keys_section(const char *name);
const struct key *keys_find(const char *section, const char *name);

// "a whole number from 0 to 7", as messages and the manual name what a key takes.
void keys_type(const struct key *key, struct text *out_text);
