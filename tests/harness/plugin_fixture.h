// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugin/model.h"
#include "plugin/registry.h"

// The plugins of the build tree, for tests that run whole graphs. What fails here fails the test.
struct plugin_fixture {
    struct pool *pool;
    struct registry *registry;
};

void plugin_fixture_open(struct plugin_fixture *plugins);

// After all that was opened on it.
void plugin_fixture_close(struct plugin_fixture *plugins);

// A device, such as "reference:f64".
struct backend *plugin_fixture_backend(struct plugin_fixture *plugins, const char *name);

// The same; where its driver or device is missing the test is skipped, with the reason, unless
// TAPML_REQUIRE names the device.
struct backend *plugin_fixture_backend_or_skip(struct plugin_fixture *plugins, const char *name);

// A model folder below the repository's root.
struct model *plugin_fixture_model(struct plugin_fixture *plugins, const char *folder);
