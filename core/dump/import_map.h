// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which tensors of a dump are the arguments of which operators: a text, a rule a line.
//
//     layers.*/norm: tapml.rms_norm x=inp-* weight=@blk.*.norm.weight eps=1e-5 offset=0 y=norm-*
//
// Before the colon stands the name of the instance, behind it the op (with "@2" behind it, of
// version 2), and each parameter that is not left out: a number, the name of a tensor, `@` and the
// name of a weight, or `BEFORE>AFTER` of a tensor that the op changes. `*` is one part, the same in
// the whole rule: there is a call for each that the first output's name has in the dump. Rules with
// `*` that follow one another are repeated together. `opaque.NAME` is no op of ours: its tensors
// are `in=` and `out=`. Behind `#` is a remark. docs/bridges.md is the manual.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct catalogue;
struct compiled_op;
struct dump;

struct import_argument {
    uint32_t position; // Of the parameter; of an opaque call its place among the arguments.
    const char *name;  // Of the parameter.
    const char *value; // A name, perhaps with `*`, or a number.
    const char *after; // Behind `>`; NULL.
    int is_number, is_weight, is_output;
};

struct import_rule {
    const char *instance, *op;
    uint32_t version; // 0: opaque.
    size_t line;
    struct import_argument *arguments;
    uint32_t argument_count;
    const struct import_argument *output; // The first.
    size_t call_count;                    // Of the last expansion.
};

struct import_map {
    struct arena *arena;
    const char *name; // Of its file.
    struct import_rule *rules;
    size_t count, capacity;
};

// Reads the text of a map; ops are looked up in `catalogue`. The caller releases it.
// TAPML_INVALID names the line.
tapml_status import_map_parse(const char *name,
                              const char *text,
                              size_t size,
                              const struct catalogue *catalogue,
                              struct import_map *out_map) STATUS_USED;
tapml_status import_map_load(const char *path,
                             const struct catalogue *catalogue,
                             struct import_map *out_map) STATUS_USED;
void import_map_release(struct import_map *map); // A zeroed one is allowed.

struct import_call {
    const struct import_rule *rule;
    const char *instance;
    const char *part; // What `*` stands for.
    size_t output;    // Place of the first output in the dump.
};

// The calls of the rules whose outputs are in the dump, in the order of the rules, in `arena`.
tapml_status import_map_expand(struct import_map *map,
                               const struct dump *dump,
                               struct arena *arena,
                               struct import_call **out_calls,
                               size_t *out_count) STATUS_USED;

// Says of the outputs in the dump by which op and from what they are computed.
tapml_status import_map_annotate(struct import_map *map, struct dump *dump) STATUS_USED;
