// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What several runs say together (report/changes.h), as text for the terminal; and the words of it
// that all views share.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends what has flipped, crept, moved and failed, each with its first lines; nothing of what is
// as it was, or of NULL.
void changes_text_append(const json_t *changes, struct text *out);

// Appends a sentence that counts: "4 failures are new, 2 are known.".
void changes_text_sentence(const json_t *changes, struct text *out);

// For all views. Where a flip, a margin or a failure is: "gpu: silu: layers.0/mlp/silu, decode".
// Of a group, how many more there are: "gpu: silu: layers.0/mlp/silu, decode and 42 more".
// Its verdicts or margins over the runs: "pass -> fail -> fail". What a flip is since:
// "since runs/b: driver: 1.2 -> 1.3". How an op has moved: "takes 1.8 times as long, noise 1.2".
// And what an entry of a baseline is.
void changes_text_place(const json_t *item, struct text *out);
void changes_text_group(const json_t *group, struct text *out);
void changes_text_verdicts(const json_t *item, struct text *out);
void changes_text_margins(const json_t *item, struct text *out);
void changes_text_since(const json_t *changes, const json_t *flip, struct text *out);
void changes_text_time(const json_t *op, struct text *out);

// The first op, or target as a whole, from `*io_at` on of the list `ops` that has moved beyond its
// noise, and its target and name for a reader, "" of a target as a whole; NULL if there is none.
// `*io_at` goes behind it.
const json_t *changes_text_next_moved(const json_t *changes,
                                      size_t *io_at,
                                      const char **out_target,
                                      const char **out_name);

// The flips of one kind, of all targets: "broke".
int64_t changes_text_count(const json_t *changes, const char *kind);
