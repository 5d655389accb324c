// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The sections and keys of a run's INI file: one table, from which the file is read and checked
// (config/key_reader.h), a key is explained, and docs/ini.md is written.
//
// To add a key: a member in struct run_config (or in its target or its fault), a row in the table
// of keys.c, of a new section one in config/keys_sections.c, and
// `tapml-host --explain --markdown > docs/ini.md`. What the row says is all: reading, range,
// default, the nearest known and the manual come from it.
#pragma once

#include "config/key_table.h"

// The table.
const struct key_table *keys_table(void);

// Its rows, in the order of the manual; NULL past the last.
const struct key_section *keys_section_at(size_t index);
const struct key *keys_at(size_t index);

// As key_table_section and key_table_find, in this table.
const struct key_section *keys_section(const char *name);
const struct key *keys_find(const char *section, const char *name);
