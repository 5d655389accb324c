// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The store in which results of chunks stay (run/trials.h): one in the user's cache for all
// questions, unless another one is named.
//
// One thread, because the environment is read. Failures are those of the store, which name it;
// TAPML_UNAVAILABLE where the user has no cache.
#pragma once

#include "base/status.h"

struct store;

// Opens the store at `path`, NULL: that of the user, which is made where it is absent. The caller
// closes it.
tapml_status trial_store_open(const char *path, struct store **out_store) STATUS_USED;
