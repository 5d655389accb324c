// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the delta of a run's model lost when it was made, weight by weight, as its file says
// (model/delta.h): kept by the store, so that the report has it where the file is not.
//
// One thread.
#pragma once

#include "base/status.h"

#include <jansson.h>

struct store;

// Keeps what the file says; nothing where `path` is NULL, and of weights that are exact. Fails as
// delta_open and metadata_set.
tapml_status delta_losses_write(struct store *store, const char *path) STATUS_USED;

// What was kept, a list of objects with "weight", "kind", "lost" and "of", first the one that lost
// most; NULL: nothing was, or it cannot be read. The caller owns it (json_decref).
json_t *delta_losses_read(struct store *store);
