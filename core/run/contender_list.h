// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which contenders there are: the models, encodings or plans that options name, else all published
// models that are on this machine, or all encodings. What is known and cannot be tried is listed
// with the reason.
//
// One thread, because the environment is read.
#pragma once

#include "base/status.h"
#include "run/contender.h"

struct arena;
struct options;

// Words of `rank --over` behind those of run/ranking.h, in this order.
enum contender_over { CONTENDER_MODELS, CONTENDER_ENCODINGS, CONTENDER_PLANS };
#define CONTENDER_OVER "model encoding plan"

struct contender_absent {
    const char *name;
    const char *why; // A sentence.
};

// Of an arena.
struct contender_list {
    struct contender *items;
    size_t count;
    struct contender_absent *absent; // Published models that are not on this machine.
    size_t absent_count;
};

// Finds the contenders of --model, --weights or --plan, each of which may be given several times.
// TAPML_INVALID where --plan has to name plans and does not, or an encoding is none; failures are
// those of the list of published models, too.
tapml_status contender_list_find(const char *program,
                                 const struct options *options,
                                 enum contender_over over,
                                 enum contender_measure measure,
                                 struct arena *arena,
                                 struct contender_list *out_list) STATUS_USED;
