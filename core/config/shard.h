// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// `--shard I/N`: which part of the work of N processes is this one's. `--shard auto` asks whatever
// has started the process: Open MPI, Slurm (steps and arrays), PMI and PMIx, Kubernetes, or
// TAPML_SHARD and TAPML_SHARDS. docs/many-machines.md says what each of them sets.
//
// Any thread that does not run while the environment changes.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct options;

// The first shard is 1; of no shards (`count` 0) the work is one process's.
struct case_shard {
    uint32_t index, count;
};

#define SHARD_OPTION                                                                               \
    {                                                                                              \
        "--shard", "I/N",                                                                          \
            "the part I of N of the cases alone, into a store of its own in the folder "           \
            "shard-I-of-N; auto: as Slurm, MPI or Kubernetes number this process"                  \
    }
#define SHARD_INTO_OPTION                                                                          \
    {                                                                                              \
        "--into", "DIR",                                                                           \
            "of --shard: where that folder is made; by default beside the store that has the "     \
            "cases"                                                                                \
    }

// Reads a value of --shard. TAPML_INVALID says what was expected and found; of "auto" which
// variables, and TAPML_PRECONDITION where nothing has numbered this process.
tapml_status shard_read(const char *word, struct case_shard *out_shard) STATUS_USED;

// The same of the options of a command; no shard where --shard is absent, without which --into is
// refused.
tapml_status shard_take(const struct options *options, struct case_shard *out_shard) STATUS_USED;
