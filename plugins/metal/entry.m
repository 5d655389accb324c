// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "note.h"

#include <tapml/gpu/entry.h>

GPU_PLUGIN("org.tapml.metal", "0.1.0", "TapML", "Apache-2.0", "metal",
           "Metal: any GPU of a Mac")
