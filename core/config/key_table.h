// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A kind of INI file as a table of its sections and keys: that of a run is config/keys.h, that of a
// device config/device_file.h. config/key_reader.h checks and reads a file by its table.
//
// Tables are constant: any thread may read them.
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
    const char *unless; // "source.store": it is not needed where that key is there; or NULL.
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

struct key_table {
    const struct key_section *sections; // In the order of the manual.
    size_t section_count;
    const struct key *keys; // The same.
    size_t key_count;
    const char *manual; // Where all keys are explained, for refusals: "see --explain".
};

// The section that [name] is, and the key `name` in it; or NULL.
const struct key_section *key_table_section(const struct key_table *table, const char *name);
const struct key *
key_table_find(const struct key_table *table, const char *section, const char *name);

// "a whole number from 0 to 7", as messages and the manual name what a key takes.
void key_table_type(const struct key *key, struct text *out_text);

// Appends "NAME = VALUE" and a line break, so that a file with it is read as it was written: bytes
// that a value cannot have become blanks, of which those at its begin go, and a text that is too
// long is cut.
void key_table_print(struct text *out_text, const char *name, const char *value);

// Whether anything but blanks is left of [value] then: a file may refuse an empty one.
int key_table_can_print(const char *value);
