// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "note.h"

#include <tapml/gpu/entry.h>

GPU_PLUGIN("org.example.sample",
           "0.1.0",
           "Example",
           "Apache-2.0",
           "sample",
           "Sample: a backend over sdk/gpu")
