// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The way of a host to what a run on another machine carves, 'tapml-host serve' there: it asks for
// the prompts that it lacks, and gets a store with some of them. A cut changes nothing
// (remote/reach.h).
//
// One thread. Messages name the address.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>

struct case_reach;

// Reads keys and address; connects nowhere. TAPML_INVALID and TAPML_UNAVAILABLE name the address or
// the file. The caller closes it, which says good-bye.
tapml_status case_reach_open(const char *url, struct case_reach **out_reach) STATUS_USED;
void case_reach_close(struct case_reach *reach); // NULL is allowed.

enum { CASE_REACH_WHO_TEXT = 192 };

struct case_reach_answer {
    int has_store;                 // There is one at `path`.
    int is_carving;                // Else: somebody carves, and more will come,
    char who[CASE_REACH_WHO_TEXT]; // "process 12 on 'big'".
};

// Asks for prompts beside these, of the run of this key. A store is written to the file `path`,
// which is replaced. Waits while the other side makes it, and for the patience of a target where
// there is no connection. TAPML_PRECONDITION where the other side refuses, as with a run of another
// key; TAPML_UNAVAILABLE where it is out of reach, or the file cannot be written; TAPML_CANCELLED
// after a signal.
tapml_status case_reach_ask(struct case_reach *reach,
                            const char *key,
                            const struct hash *prompts,
                            size_t count,
                            const char *path,
                            struct case_reach_answer *out_answer) STATUS_USED;
