// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A list of modules in a `quantization_config`: names, globs, regular expressions behind "re:", and
// names of classes such as "Linear".
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>

struct arena;

struct quantised_names {
    struct quantised_name *items; // Of the arena; the expressions are the list's.
    size_t count;
};

// Reads a list of strings, which may be NULL; `key` and `file` are for messages. On failure too the
// list is to be released.
tapml_status quantised_names_read(struct quantised_names *names,
                                  struct arena *arena,
                                  const char *file,
                                  const char *key,
                                  const json_t *list) STATUS_USED;

// A zeroed list is allowed.
void quantised_names_release(struct quantised_names *names);

// Whether the list has `module` itself, or a module that it is a part of. TAPML_INVALID if an
// expression takes too long.
tapml_status quantised_names_find(const struct quantised_names *names,
                                  const char *module,
                                  int *out_has) STATUS_USED;

// Whether the list has the name of a class, which stands for every module here: what is not of the
// class has no quantised tensors.
int quantised_names_have_class(const struct quantised_names *names);
