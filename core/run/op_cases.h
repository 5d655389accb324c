// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The cases of one op, or all that a store has, as a store of their own, in a folder for temporary
// files: whatever is judged by them, the store that they come from stays as it is.
#pragma once

#include "base/status.h"
#include "config/temporary_folder.h"
#include "run/interrupt.h"

#include <stddef.h>
#include <stdint.h>

struct checkpoint;
struct store;

enum { OP_CASES_PATH_BYTES = 300, OP_CASES_FILES = 4 };

// It stays where it is while it is open: an interrupted program removes its files.
struct op_cases {
    struct store *store;
    char folder[TEMPORARY_FOLDER_TEXT];
    char paths[OP_CASES_FILES][OP_CASES_PATH_BYTES]; // The store, and what SQLite has beside one.
    const char *files[OP_CASES_FILES];
    struct interrupt_scratch scratch;
    size_t count;
    char op[128]; // Its full name; "" of all.
};

struct op_cases_options {
    struct store *source;
    const char *op;                      // With or without "tapml."; NULL: all.
    const struct checkpoint *checkpoint; // Of the source; or NULL.
    int widens;                          // Plain weights become f32, which is exact.
    const int64_t *ids;                  // Of the source: these cases alone; NULL: all.
    size_t id_count;
};

// Whether the full name of an op is what somebody asks for, with or without "tapml.".
int op_cases_is_op(const char *name, const char *asked);

// Copies the cases of an op, or all. TAPML_NOT_FOUND where the source has none, with the ops that
// it has. `op_cases_close` removes the copy; also after a failure.
tapml_status op_cases_copy(const struct op_cases_options *options,
                           struct op_cases *out_cases) STATUS_USED;
// The same of no source: a store for what is added to it.
tapml_status op_cases_create(struct op_cases *out_cases) STATUS_USED;
void op_cases_close(struct op_cases *cases);
