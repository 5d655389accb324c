// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Comparers of plugins (tapml/draft/comparer.h): measures of outputs beside those of
// verify/compare.h. No verdict depends on them.
//
// One thread. The registry outlives the comparers.
#pragma once

#include "plugin/registry.h"
#include "schema/compiled.h"
#include "store/measured.h"
#include "verify/replay.h"

#include <stddef.h>

struct arena;
struct comparers;

enum { COMPARERS_MAX = 16 };

// Opens the components that `names` lists, with blanks between; NULL lists none. Fails as
// registry_get does, with TAPML_INVALID also if one is named twice or there are more than
// COMPARERS_MAX. The caller owns the comparers; `comparers_destroy` accepts NULL.
tapml_status comparers_create(struct registry *registry,
                              const char *names,
                              struct comparers **out_comparers) STATUS_USED;
void comparers_destroy(struct comparers *comparers);

// A case that was run, all borrowed.
struct comparers_question {
    const struct carved_case *item;
    const struct compiled_op *schema;
    const struct replay_result *result;
};

// Measures all outputs of a case by each comparer, in their order; nothing if `comparers` is NULL.
// Texts and items are in `arena`. A failure of a comparer is TAPML_INTERNAL with its name and its
// sentence; TAPML_NO_MEMORY and TAPML_CANCELLED stay what they are.
tapml_status comparers_measure(struct comparers *comparers,
                               const struct comparers_question *question,
                               struct arena *arena,
                               const struct measured **out_items,
                               size_t *out_count) STATUS_USED;

// Whether `items`, the measures of a result of `outputs` outputs, are those of these comparers, as
// built today, each with all outputs. Others may be among them. NULL: they are none.
int comparers_have(const struct comparers *comparers,
                   const struct measured *items,
                   size_t count,
                   size_t outputs);
