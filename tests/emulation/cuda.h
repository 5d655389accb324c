// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the two stand-ins for NVIDIA's libraries share: the interface, which is the plugin's, and
// how their "machine code" begins.
#pragma once

#include "../../plugins/cuda/interface.h"

struct cuda_image {
    char magic[16];
    size_t size; // Of the shared object behind it.
};

#define CUDA_IMAGE_MAGIC "emulated-on-CPU"

#define DRIVER_SYMBOL(name) api_##name name;
#include "../../plugins/cuda/driver_symbols.def"
#define COMPILER_SYMBOL(name) api_##name name;
#include "../../plugins/cuda/driver_symbols.def"
