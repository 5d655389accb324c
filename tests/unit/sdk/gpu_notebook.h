// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A driver of sdk/gpu that only takes notes, for what no device at hand shows: subgroups, folded
// grids, failures of queued work. Its numbers are never computed.
#pragma once

#include <tapml/gpu/backend.h>
#include <tapml/gpu/support.h>

struct tapml_call {
    char message[512];
    uint64_t blamed;
};

enum { GPU_NOTEBOOK_PRODUCTS_MAX = 16, GPU_NOTEBOOK_ARGUMENTS_MAX = 16 };

// Zero it, set what is to be set, open it.
struct gpu_notebook {
    struct gpu_limits limits;   // Of the device; zero is 256 items, 16 KiB, 65535 groups.
    const char *option, *value; // One option of the component; or NULL.
    tapml_status wait_status;   // What waiting gives.
    tapml_status restart_status;
    tapml_status notify_status;
    int takes_products, refuses_buffers;
    enum gpu_passing passing; // Of kernels that are not of the table.
    const char *code_ending;
    const char *compiler_error; // Of every pipeline; NULL: all are made.
    const struct gpu_own *own;  // Of the driver table,
    const char *sources;        // as is this.

    // The last launch, and counts.
    const struct k_kernel *kernel;
    uint32_t tune[K_TUNE_MAX];
    uint32_t groups[3];
    uint64_t number;
    struct gpu_argument arguments[GPU_NOTEBOOK_ARGUMENTS_MAX];
    uint32_t argument_count;
    uint64_t buffer_bytes[K_BINDING_MAX], offsets[K_BINDING_MAX];
    unsigned char params[K_PARAMS_MAX];
    uint32_t launch_count, pipeline_count, restart_count;
    struct gpu_product products[GPU_NOTEBOOK_PRODUCTS_MAX];
    uint32_t product_count;

    tapml_host host;
    tapml_host_core core;
    const tapml_backend *table;
    tapml_object *root, *device, *queue, *buffer;
    uint64_t ticket;
    struct gpu_notice *notices[8]; // That the driver has, to be given by the test.
    uint32_t notice_count;
    size_t live_bytes;
};

tapml_status gpu_notebook_open(struct gpu_notebook *notebook, tapml_call *call);
void gpu_notebook_close(struct gpu_notebook *notebook);

// A dense tensor in the one buffer of 1 MiB. `shape` is borrowed.
tapml_tensor gpu_notebook_tensor(struct gpu_notebook *notebook,
                                 uint32_t dtype,
                                 uint32_t rank,
                                 const int64_t *shape);
