// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the stand-ins for NVIDIA's libraries share: the interface, which is the plugin's, how their
// "machine code" begins, and the functions of the driver's that the others call.
#pragma once

#include "../../plugins/cuda/interface.h"

struct cuda_image {
    char magic[16];
    size_t size; // Of the shared object behind it.
};

#define CUDA_IMAGE_MAGIC "emulated-on-CPU"

// The bytes of the device's memory, or NULL where they are not all of one allocation.
typedef unsigned char *api_emulated_cuda_find(CUdeviceptr memory, size_t size);
// Calls `function` with a copy of `data` in its turn among the commands of a stream.
typedef CUresult
api_emulated_cuda_run(CUstream stream, void (*function)(void *), const void *data, size_t size);

#define DRIVER_SYMBOL(name) api_##name name;
#include "../../plugins/cuda/driver_symbols.def"
#define COMPILER_SYMBOL(name) api_##name name;
#include "../../plugins/cuda/driver_symbols.def"
#define PRODUCT_SYMBOL(name) api_##name name;
#include "../../plugins/cuda/driver_symbols.def"
