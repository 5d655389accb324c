// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks the names of an INI file against a table (config/key_table.h), and reads its values into
// the members that their rows name.
#pragma once

#include "base/ini.h"
#include "config/key_table.h"
#include "config/problems.h"

// What is unknown, with the nearest known; and what stands twice and may not.
void key_reader_check(const struct key_table *table,
                      const struct ini *ini,
                      struct problems *problems);

// Reads the keys of [section] into the members of `object`, which is the struct that the rows of
// that section speak of. Texts are borrowed from `ini`. What is wrong becomes a problem, and its
// member takes the default; without a default it stays as it is.
void key_reader_read(const struct key_table *table,
                     const struct ini *ini,
                     const char *section,
                     void *object,
                     struct problems *problems);
