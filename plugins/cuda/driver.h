// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver over CUDA's driver API: what its files share.
//
// A device is its primary context and one stream, which orders everything; a second one only waits
// for markers of the first and notifies the host, so that this holds up no work. What goes to the
// host or comes from it passes through a ring of pinned slots, so that no command waits for the
// host's memory; kernels are compiled by NVRTC for the device's own architecture.
#pragma once

#include "interface.h"

#include <tapml/gpu/entries.h>
#include <tapml/gpu/support.h>

enum {
    DRIVER_DEVICE_MAX = 64,
    DRIVER_ARCH_MAX = 64,
    DRIVER_MARKER_MAX = 64,
    DRIVER_SLOT_COUNT = 16,
    DRIVER_SLOT_BYTES = 1 << 20,
    DRIVER_PRODUCT_MAX = 128,
    DRIVER_WORKSPACE_BYTES = 32 << 20, // What NVIDIA recommends for its newest architectures.
};

// The libraries, opened at run time.
struct driver_functions {
#define DRIVER_SYMBOL(name) api_##name *name;
#include "driver_symbols.def"
};

struct compiler_functions {
#define COMPILER_SYMBOL(name) api_##name *name;
#include "driver_symbols.def"
};

struct product_functions {
#define PRODUCT_SYMBOL(name) api_##name *name;
#include "driver_symbols.def"
};

struct driver_root {
    const struct gpu_host *host;
    void *library, *compiler_library, *product_library; // The last one may be absent: NULL.
    struct driver_functions cu;
    struct compiler_functions nvrtc;
    struct product_functions lt;
    int is_product_sought; // Its library is open, or there is none, or none is wanted.
    uint32_t device_count;
    uint32_t arch_count;
    int arch[DRIVER_ARCH_MAX];    // What NVRTC compiles for: 90 is compute capability 9.0.
    int nvrtc_major, nvrtc_minor; // Its version.
};

// A piece of pinned memory. It is free again when its event is complete; a read is then copied to
// where it belongs.
struct driver_slot {
    CUevent event;
    void *target; // Of a read, or NULL.
    size_t size;
};

// What decides how a product is computed: numbers, sizes and strides in elements.
struct product_key {
    uint64_t type, rows, outputs, width;
    uint64_t x_stride, w_stride, y_stride;
    uint64_t x_align, w_align, y_align; // Of the addresses, in bytes.
};

// A product that was asked for, and the library's way to compute it.
struct driver_product {
    struct product_key key;
    uint64_t used; // The time of the last use; 0 is an empty place.
    int is_taken;
    cublasLtMatrixLayout_t x, w, y;
    cublasLtMatmulAlgo_t algo;
};

// Of a device: begun by its first product.
struct driver_products {
    int is_begun, is_refused; // Refused: the library cannot work here, kernels do.
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t single, halves; // The operation on f32, and on 16 bits.
    cublasLtMatmulPreference_t preference;
    CUdeviceptr workspace;
    uint64_t time;
    struct driver_product table[DRIVER_PRODUCT_MAX];
};

struct driver_device {
    const struct driver_root *root;
    CUdevice id;
    CUcontext context;
    CUstream stream, notices;
    CUresult failure; // Of a device that is lost: nothing works after it.
    int is_cache_on;
    int is_ptx;            // NVRTC does not know the device's architecture: the driver compiles on.
    char architecture[48]; // The compiler's option.
    uint64_t reached;
    uint32_t first, count; // Of the ring of markers, one for each ticket not yet seen reached.
    struct {
        uint64_t ticket;
        CUevent event;
    } marker[DRIVER_MARKER_MAX];
    char *pinned;                    // The memory of the slots, one behind the other.
    uint32_t slot_first, slot_count; // Of the ring of slots in use.
    struct driver_slot slot[DRIVER_SLOT_COUNT];
    struct driver_products products;
};

struct driver_buffer {
    CUdeviceptr memory;
};

struct driver_pipeline {
    const struct k_kernel *kernel;
    uint32_t items; // Of a workgroup.
    CUmodule module;
    CUfunction function;
};

// The status that a code of CUDA stands for; says which call it comes from.
tapml_status
driver_check(const struct driver_root *root, tapml_call *call, CUresult code, const char *what);

// The same for a device's call: one that is lost stays lost.
tapml_status
device_check(struct driver_device *device, tapml_call *call, CUresult code, const char *what);

// Makes the device's context the thread's, which every call of CUDA wants. Fails for good where the
// device is lost.
tapml_status device_enter(struct driver_device *device, tapml_call *call);

// Delivers the reads whose slots are complete and frees these slots.
tapml_status memory_collect(struct driver_device *device, tapml_call *call);

// Opens the library that the option `cublaslt` names. TAPML_UNAVAILABLE where it is not there.
tapml_status product_load(struct driver_root *root, tapml_call *call);

// Opens the newest library that is installed, unless the option says otherwise. It takes a second
// or more, so that a probe does not do it.
void product_seek(struct driver_root *root);

// Frees what products have made of a device whose work is done. Its context is current, if it
// works.
void product_close(struct driver_device *device);
