// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How the dimensions of an op may be split: which axes can be cut into parts, so that the op on the
// parts of its arguments computes parts of its outputs.
//
//   text = rule { "|" rule }
//   rule = symbol { symbol } [ ":" "sum" ]          "hq hk", "out", "in: sum"
//
// A rule names symbols of the shapes. The axes that are one of these are cut at the same shares;
// all other arguments go whole to each part. Without `sum` each output has one of the symbols, and
// the parts of the outputs, one behind the other, are the whole ones, bit for bit. With `sum` no
// output has one, and the outputs of the parts, added up, are the whole ones; an optional argument
// that is not cut goes to the first part alone, since it would be added once for each. The first
// symbol is always cut; an axis of another one that has extent 1, such as a head of keys that all
// queries share, stays whole. A symbol of leading axes (`rows`) stands for each of these.
//
// Rules are constant and live in the arena that is given. Any thread.
#pragma once

#include "schema/expression.h"

#include <tapml/op.h>

struct arena;
struct text;

enum { SPLIT_RULES_MAX = 8, SPLIT_SYMBOLS_MAX = 6 };

struct split_rule {
    uint8_t symbols[SPLIT_SYMBOLS_MAX]; // Of the schema's names.
    uint32_t symbol_count;
    int is_sum;
};

// Reads the key `split` of an op; `shapes` has that of each tensor parameter, and NULL for others.
// None where it has no such key. TAPML_INVALID names the rule and what is wrong; TAPML_NO_MEMORY.
tapml_status split_read(const tapml_op *op,
                        const struct expression_names *names,
                        const struct expression *const *shapes,
                        struct arena *arena,
                        const struct split_rule **out_rules,
                        uint32_t *out_count) STATUS_USED;

// Whether a part behind the first goes without the argument of a parameter, which is cut or not.
int split_leaves_out(const tapml_op *op, const struct split_rule *rule, uint32_t param, int is_cut);

// Appends "hq hk" or "in: sum".
void split_print(const struct expression_names *names,
                 const struct split_rule *rule,
                 struct text *out_text);
