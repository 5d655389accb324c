// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A host for architectures without the loader: the core's own config, weights and graph builder
// behind a host table, for code that is linked into the test.
#pragma once

#include "graph/graph.h"

#include <tapml/model/context.h>

struct stand;

// A model folder below the tests' data ("models/llama"), or with `folder` NULL the text of a config
// and no checkpoint. Fails the test where they cannot be read.
struct stand *stand_open(const char *folder, const char *config_text);
void stand_close(struct stand *stand);

const tapml_host *stand_host(const struct stand *stand);
tapml_object *stand_config(const struct stand *stand);
tapml_object *stand_weights(const struct stand *stand);
tapml_object *stand_graph(const struct stand *stand);

// A context as `build` has it.
struct model_context stand_context(const struct stand *stand);

// What the host says of the config once it was read: TAPML_OK, or the keys that nobody knew.
tapml_status stand_check_config(const struct stand *stand);

// The graph, once it was built. The stand owns it.
const struct graph *stand_finish(struct stand *stand);

// Fails the test unless `status` is `expected` and its message holds `piece`.
void stand_expect(tapml_status status, tapml_status expected, const char *piece);
void stand_ok(tapml_status status);
