// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The objects of the ABI, over the handles of a driver. Each begins with its tapml_object.
#pragma once

#include <tapml/backend.h>
#include <tapml/gpu/support.h>

enum { GPU_DEVICE_MAX = 16, GPU_PIPELINE_MAX = 256, GPU_PENDING_MAX = 64 };

// Ops with digests, and the bytes of a digest's text.
enum { GPU_IDENTITIES_MAX = 64, GPU_IDENTITY_TEXT = 40 };

// How work is cut. Small: a workgroup that shares a sum is one work item, which computes a block of
// outputs by itself. Lanes: it is one subgroup, which computes such a block together and needs no
// barrier. Large: items share their rows, and tiles in shared memory. An open device has one of
// them, and lanes only where its subgroups have one size.
enum gpu_tile { GPU_TILE_AUTO, GPU_TILE_SMALL, GPU_TILE_LANES, GPU_TILE_LARGE };

// What `devices` answers, in one piece.
struct gpu_listing {
    uint32_t count;
    struct gpu_description description[GPU_DEVICE_MAX];
    tapml_memory_type memory[GPU_DEVICE_MAX];
    const tapml_memory_type *memory_list[GPU_DEVICE_MAX];
    tapml_device_info info[GPU_DEVICE_MAX];
    const tapml_device_info *list[GPU_DEVICE_MAX];
};

struct gpu_root {
    tapml_object base;
    const struct gpu_driver *driver;
    struct gpu_host host;
    struct driver_root *impl;
    struct gpu_listing *listing; // NULL before it is asked for.
    const tapml_op_impl **ops;   // Of every device (ops.h).
    uint32_t op_count;
};

// A kernel with values for its constants, ready to launch.
struct gpu_pipeline {
    const char *name; // As the plan gave it.
    int is_own;       // Likewise,
    uint32_t variant; // and this.
    uint32_t tune[K_TUNE_MAX];
    const struct k_kernel *kernel;
    struct driver_pipeline *impl;
};

struct gpu_buffer {
    tapml_object base;
    struct gpu_device *device;
    struct driver_buffer *impl;
};

// What products of the driver need of memory (products.h), made once, by the first of them.
struct gpu_products {
    int is_ready, is_refused; // Neither before that; refused: there is no memory for it.
    struct gpu_buffer parts, sums, scales; // The driver's buffers; no objects of the host.
};

struct gpu_device {
    tapml_object base;
    struct gpu_root *root;
    struct driver_device *impl;
    struct gpu_limits limits;
    tapml_limits reported; // What the host is told of them,
    uint64_t import_grain; // and of memory that it imports (buffers.h).
    struct {
        tapml_handle_kind pointer;
        const tapml_handle_kind *list[1];
    } imports;
    enum gpu_tile tile;
    int is_synchronous;         // Waits for every launch, so that a failure names its call.
    struct driver_buffer *none; // 16 bytes, bound where an optional tensor is absent.
    uint64_t ticket;            // The last one given out,
    uint64_t mark;              // and the last mark of what is written aside.
    uint32_t queue_count;       // Alive.
    tapml_status failure;       // Of queued work: the answer to everything from then on.
    struct gpu_products products;
    struct gpu_foreign *foreign;   // What computes the one op of this device; NULL: the kernels do.
    struct gpu_settings *settings; // What the host has chosen (tuning.h); NULL: nothing was asked.
    char identities[GPU_IDENTITIES_MAX][GPU_IDENTITY_TEXT]; // "" until asked for,
    char own_identity[GPU_IDENTITY_TEXT];                   // as that of the driver's own ops.
    uint32_t pipeline_count;
    struct gpu_pipeline pipelines[GPU_PIPELINE_MAX];
};

struct gpu_queue {
    tapml_object base;
    struct gpu_device *device;
    uint64_t calls;                // Op calls begun.
    uint64_t launches;             // Kernels launched for them.
    int is_aside;                  // So far it only writes, beside the stream.
    int has_aside;                 // Something, behind the last mark.
    uint32_t half;                 // K_V_HALF where the activations of the call are f16.
    tapml_support *answer;         // Not NULL in a dry run: the op is checked and not launched.
    struct gpu_question *question; // Of a dry run that asks for knobs (tuning.h); or NULL.
};

struct gpu_timeline {
    tapml_object base;
    struct gpu_device *device;
    uint64_t value;
    struct gpu_notice *notices; // Of values above this one, the newest first.
    uint32_t first, count;      // Of the ring.
    struct {
        uint64_t value;
        uint64_t ticket; // 0: not known yet, of a mark.
        uint64_t mark;   // 0: the signal was of the stream.
    } pending[GPU_PENDING_MAX];
};

// For objects that offer no interface.
const void *gpu_no_interface(tapml_object *object, const char *id);

// Says that the host's memory is exhausted.
tapml_status gpu_no_memory(const struct gpu_host *host, tapml_call *call);

// The failure of work that was queued before, or TAPML_OK.
tapml_status gpu_device_check(const struct gpu_device *device, tapml_call *call);
