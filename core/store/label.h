// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The labels of a case in table `case`: where its call was seen, without what went through it.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct arena;
struct carved_case;
struct store;

// Instance, op, version, phase and shape class of a case, in `arena`; all else is zero.
// TAPML_NOT_FOUND where there is no such case.
tapml_status label_read(struct store *store,
                        int64_t id,
                        struct arena *arena,
                        struct carved_case *out_case) STATUS_USED;

// The id of the case that was seen where `item` was: instance, prompt, step and part. `*out_has` is
// 0 where there is none.
tapml_status label_find(struct store *store,
                        const struct carved_case *item,
                        int64_t *out_id,
                        int *out_has) STATUS_USED;

// Calls `visit` for each instance that has cases, with its op; a status that is not TAPML_OK ends
// it. The texts live until `visit` returns.
typedef tapml_status (*label_visit_fn)(void *user, const char *op, const char *instance);
tapml_status
label_visit_instances(struct store *store, label_visit_fn visit, void *user) STATUS_USED;
