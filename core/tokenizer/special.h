// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ids that begin and end a text: generation_config.json, then config.json, then
// tokenizer_config.json; or the metadata of a GGUF file.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { SPECIAL_END_MAX = 16 };

// The keys under which files name tokens by what they are for, ended by NULL: "bos_token", ...
extern const char *const special_roles[];

struct special {
    int32_t begin; // -1: none
    int32_t end[SPECIAL_END_MAX];
    size_t end_count;
};

// Reads the ids of `folder`. A missing file is no error; a file that is not valid JSON is one.
tapml_status special_load(const char *folder, struct special *out_special) STATUS_USED;

// Whether `id` ends a text. [any]
int special_is_end(const struct special *special, int32_t id);

// The text of a token as files name it: a string, or the "content" of an object. NULL: neither.
const char *special_content(const json_t *token);
