// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A prompts file: one prompt a line, as text, as "ids: 5 17 3", or as "chat: ...", messages in one
// of the forms of model/chat.h. "inputs: FILE" may stand before each of them, or alone: what a
// prompt has beside its ids, such as images, in a file without blanks in its name, which is looked
// for in the folder of the prompts file.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

// A value that a prompt has beside its ids: that of an input of the user, or rows of a part
// (graph/graph.h) by the name of its output. Dense, in the input's type.
struct prompt_given {
    const char *name;
    const void *data;
    uint64_t bytes;
};

struct prompt_givens {
    const struct prompt_given *items;
    size_t count;
};

struct prompt {
    const char *text; // As it stands in the file.
    int32_t *ids;
    size_t count;    // At least 1.
    unsigned line;   // In the file, from 1.
    struct hash id;  // Of all that is fed: the ids, and the file of inputs.
    int is_repeated; // One before it is equal.

    const char *inputs;         // The path of that file; or NULL.
    struct prompt_givens given; // What came of it (run/model_parts.h): none before.
};

struct prompts {
    struct arena *arena;
    struct prompt *items;
    size_t count;
};

struct prompts_options {
    const struct tokenizer *tokenizer; // May be NULL if every line is of ids.
    const char *no_text; // Says why there is none, for the refusal of a text; or NULL.
    const char *folder;  // The model's, of which the template serves lines of chat; or NULL.
    int64_t vocabulary;  // 0: ids of any value.
    size_t length_max;   // In tokens; 0: of any length.
};

// Reads a file. Empty lines are passed over; an empty file, more than a million prompts, bytes that
// are no UTF-8, ids outside 0 .. vocabulary - 1, prompts longer than `length_max` and messages that
// the template refuses are refused, with file and line; so are files of inputs that cannot be read.
// A prompt of inputs alone has one id, 0.
tapml_status prompts_load(const char *path,
                          const struct prompts_options *options,
                          struct prompts *out_prompts) STATUS_USED;

// As prompts_load, for a text of `size` bytes with a zero byte behind them, which is taken apart;
// messages use `name` for the file, and files of inputs are looked for in its folder.
tapml_status prompts_parse(const char *name,
                           char *text,
                           size_t size,
                           const struct prompts_options *options,
                           struct prompts *out_prompts) STATUS_USED;
void prompts_release(struct prompts *prompts);
