// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver over Metal: what its files share. Objects are counted by hand, so that they can stand
// in structs of C, and no literal of Objective-C needs a class of its own.
//
// Commands are encoded into a batch, which is committed when it is full or when somebody flushes. A
// few batches take turns. Metal orders what its encoders do to the same buffers by itself.
#pragma once

#include <tapml/gpu/entries.h>
#include <tapml/gpu/support.h>

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

enum {
    DRIVER_DEVICE_MAX = 16,
    DRIVER_BATCH_COUNT = 4,
    DRIVER_LAUNCH_MAX = 256, // Of a batch.
    DRIVER_READ_MAX = 64,
};

struct driver_found {
    id<MTLDevice> device;
    char id[64];
};

struct driver_root {
    const struct gpu_host *host;
    uint32_t found_count;
    struct driver_found found[DRIVER_DEVICE_MAX];
};

// A read that arrives when its batch is done.
struct batch_read {
    id<MTLBuffer> staging;
    void *target;
    size_t size;
};

struct batch {
    id<MTLCommandBuffer> commands;
    uint64_t ticket; // The last that was signalled up to its end.
    uint32_t launch_count, read_count;
    struct batch_read reads[DRIVER_READ_MAX];
};

struct driver_device {
    const struct driver_root *root;
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    int has_failed;           // Queued work has, and what follows is refused until a restart.
    char failure[256];        // Why.
    uint64_t ticket, reached; // The last one signalled, the last one known to be reached.
    uint32_t first, count;    // Of the ring of batches that are open or under way.
    int is_open;              // The last of them takes commands,
    id<MTLComputeCommandEncoder> compute; // through one of these two, or none.
    id<MTLBlitCommandEncoder> blit;
    struct batch batches[DRIVER_BATCH_COUNT];
};

struct driver_buffer {
    id<MTLBuffer> memory; // Shared with the CPU.
};

struct driver_pipeline {
    const struct k_kernel *kernel;
    uint32_t items; // Of a workgroup.
    id<MTLComputePipelineState> state;
};

// Fails with what Metal says of an error, which may be nil.
tapml_status driver_fail(const struct driver_root *root,
                         tapml_call *call,
                         tapml_status code,
                         NSError *error,
                         const char *what);

// The encoder for copies, of the batch that is open. It is the batch's.
tapml_status
queue_blit(struct driver_device *device, tapml_call *call, id<MTLBlitCommandEncoder> *out_encoder);

// Notes, behind a copy into `staging`, where it goes when the batch is done. Keeps `staging`.
void queue_note_read(struct driver_device *device,
                     id<MTLBuffer> staging,
                     void *target,
                     size_t size);

// Waits for all that is queued and gives the batches back.
void queue_release(struct driver_device *device);
