// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Keys of the text of an INI file, set: comments, blank lines and the order of the rest stay.
#pragma once

#include "base/status.h"
#include "base/text.h"

// A key that is set; with a NULL value, one that goes.
struct ini_edit {
    const char *section, *key, *value;
};

// Appends `ini` to `out` with a key set: the first line that has it is replaced, further ones go;
// where there is none a line follows the head of its section, which is put at the end of the text
// where it is missing. What was appended is a file that says the same of everything else. [any]
void ini_edit_apply(const char *ini, const struct ini_edit *edit, struct text *out);

// Appends `ini` with one key after the other set. TAPML_NO_MEMORY. [any]
tapml_status ini_edit_all(const char *ini,
                          const struct ini_edit *edits,
                          size_t count,
                          struct text *out) STATUS_USED;
