// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The embedded model, open with the plugins of this build: what tests of the upper layers stand on.
// Each function fails the test where something fails.
#pragma once

#include "exec/session.h"
#include "plugin/model.h"
#include "plugin/registry.h"

struct tiny {
    struct pool *pool;
    struct registry *registry;
    struct model *model;
};

void tiny_open(struct tiny *tiny);
void tiny_close(struct tiny *tiny);
struct backend *tiny_backend(struct tiny *tiny, const char *name);

// A session of `rule` over "source" and, where it is not NULL, "target".
struct session *
tiny_session(struct tiny *tiny, struct backend *source, struct backend *target, const char *rule);
