// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugin/model.h"
#include "plugin/registry.h"

// The plugins of the build tree, for tests that run whole graphs. What fails here fails the test.
struct stage {
    struct pool *pool;
    struct registry *registry;
};

void stage_open(struct stage *stage);

// After all that was opened on it.
void stage_close(struct stage *stage);

// A device, such as "reference:f64".
struct backend *stage_backend(struct stage *stage, const char *name);

// The same; where its driver or device is missing the test is skipped, with the reason, unless
// TAPML_REQUIRE names the device.
struct backend *stage_backend_or_skip(struct stage *stage, const char *name);

// A model folder below the repository's root.
struct model *stage_model(struct stage *stage, const char *folder);
