// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A host for architectures without the loader: the core's own config, weights and graph builder
// behind a host table, for code that is linked into the test.
#pragma once

#include "graph/graph.h"

#include <tapml/model/context.h>

struct model_fixture;

// A model folder below the tests' data ("models/llama"), or with `folder` NULL the text of a config
// and no checkpoint. Fails the test where they cannot be read.
struct model_fixture *model_fixture_open(const char *folder, const char *config_text);
void model_fixture_close(struct model_fixture *fixture);

const tapml_host *model_fixture_host(const struct model_fixture *fixture);
tapml_object *model_fixture_config(const struct model_fixture *fixture);
tapml_object *model_fixture_weights(const struct model_fixture *fixture);
tapml_object *model_fixture_graph(const struct model_fixture *fixture);

// A context as `build` has it.
struct model_context model_fixture_context(const struct model_fixture *fixture);

// What the host says of the config once it was read: TAPML_OK, or the keys that nobody knew.
tapml_status model_fixture_check_config(const struct model_fixture *fixture);

// The graph, once it was built. The fixture owns it.
const struct graph *model_fixture_finish(struct model_fixture *fixture);

// Fails the test unless `status` is `expected` and its message holds `piece`.
void model_fixture_expect(tapml_status status, tapml_status expected, const char *piece);
void model_fixture_ok(tapml_status status);
