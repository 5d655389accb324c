// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A digest of all code by which a backend runs a model: what was found by running it whole holds as
// long as this stays the same.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "device/backend.h"
#include "graph/graph.h"
#include "schema/catalogue.h"

struct store;

// Of the ops of `graph` on `backend` (`backend_identity`, `backend_arithmetic`); an op that it
// lacks counts as lacking.
tapml_status identity_of_graph(struct backend *backend,
                               const struct graph *graph,
                               char out_text[HASH_TEXT]) STATUS_USED;

// The same of the ops that the cases of a store call, as far as `catalogue` has them.
tapml_status identity_of_cases(struct backend *backend,
                               const struct catalogue *catalogue,
                               struct store *store,
                               char out_text[HASH_TEXT]) STATUS_USED;
