// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Both sides of the link in one process: every call goes through bytes and back, and buffers
// through memory that is mapped twice. What a worker would do to numbers, this does.
//
// One thread.
#pragma once

#include "base/arena.h"
#include "device/backend.h"
#include "schema/catalogue.h"

// `inner` and `catalogue` are borrowed; schemas are kept in `arena`, which outlives the catalogue.
tapml_status loopback_create(struct backend *inner,
                             struct catalogue *catalogue,
                             struct arena *arena,
                             struct backend **out_backend) STATUS_USED;
