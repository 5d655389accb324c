// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The INI file of a sharding: its one section [shard] says over which places a model is divided,
// and how. docs/sharding.md is the manual.
//
// One thread.
#pragma once

#include "base/ini.h"
#include "config/key_table.h"
#include "graph/sharding.h"

struct sharding_file {
    struct ini ini; // Owns the texts.
    struct sharding_options options;
};

// The section, and its keys, as entries of a table of keys: also of that of a run's file
// (config/keys.h). `at_` is a macro that gives the place of a member of struct sharding_options.
#define SHARDING_FILE_SECTION                                                                      \
    {                                                                                              \
        "shard", "shard",                                                                          \
            "How the model is divided over several places, for [check] invariance = parts. See "   \
            "docs/sharding.md.",                                                                   \
            0                                                                                      \
    }
#define SHARDING_FILE_KEYS(at_)                                                                    \
    {.section = "shard",                                                                           \
     .name = "mesh",                                                                               \
     .kind = KEY_TEXT,                                                                             \
     .is_needed = 1,                                                                               \
     at_(mesh),                                                                                    \
     .type = "names of places with blanks between",                                                \
     .example = "gpu0 gpu1",                                                                       \
     .help = "The places, each of which has a part: 'source', or names of targets."},              \
        {.section = "shard",                                                                       \
         .name = "plan",                                                                           \
         .kind = KEY_TEXT,                                                                         \
         at_(plan),                                                                                \
         .type = "'hf'",                                                                           \
         .example = "hf",                                                                          \
         .help = "'hf': base_model_tp_plan of the model's config.json says what is 'column' and "  \
                 "'row', beside the keys of that name."},                                          \
        {.section = "shard",                                                                       \
         .name = "column",                                                                         \
         .kind = KEY_TEXT,                                                                         \
         at_(column),                                                                              \
         .type = "globs with blanks between",                                                      \
         .example = "*.q_proj *.k_proj *.v_proj *.gate_proj *.up_proj",                            \
         .help = "Operators, by their instance or the name of a weight, of which each place "      \
                 "computes some of the outputs. The values are those of one place, bit for bit."}, \
    {                                                                                              \
        .section = "shard", .name = "row", .kind = KEY_TEXT, at_(row),                             \
        .type = "globs with blanks between", .example = "*.o_proj *.down_proj",                    \
        .help = "Operators of which each place has some of the inputs and computes a summand of "  \
                "all outputs. The summands are added in the order of the mesh."                    \
    }

// The section and its keys.
const struct key_table *sharding_file_table(void);

// Reads and checks a file. The caller releases the result. TAPML_INVALID has the first of what is
// wrong, with file and line, and for an unknown name the nearest known.
tapml_status sharding_file_load(const char *path, struct sharding_file *out_file) STATUS_USED;

// A zeroed file is allowed.
void sharding_file_release(struct sharding_file *file);
