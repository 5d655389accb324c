// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver over OpenCL 1.2 and later: what its files share.
//
// OpenCL keeps an in-order queue, orders memory by itself and copies kernel arguments at the
// enqueue, so that each function of the driver table is one call, or nearly.
#pragma once

#include <tapml/gpu/entries.h>
#include <tapml/gpu/support.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { DRIVER_DEVICE_MAX = 16, DRIVER_PLATFORM_MAX = 16, DRIVER_MARKER_MAX = 64 };

// The library, opened at run time. The types come from the prototypes of CL/cl.h: the headers of
// each year have other names for them.
struct driver_functions {
#define SYMBOL(name) __typeof__(name) *name;
#include "driver_symbols.def"
#undef SYMBOL
};

struct driver_found {
    cl_platform_id platform;
    cl_device_id device;
    char id[64];
};

struct driver_root {
    const struct gpu_host *host;
    void *library;
    struct driver_functions cl;
    uint32_t found_count;
    struct driver_found found[DRIVER_DEVICE_MAX];
};

struct driver_device {
    const struct driver_root *root;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    char build_options[512];
    uint64_t reached;
    uint32_t first, count; // Of the ring of markers, one for each ticket not yet seen reached.
    struct {
        uint64_t ticket;
        cl_event event;
    } marker[DRIVER_MARKER_MAX];
    cl_command_queue aside;            // Of writes beside the queue; NULL before the first.
    uint64_t mark;                     // The last one, in the ring at its remainder.
    cl_event marks[DRIVER_MARKER_MAX]; // NULL: there was none, or it is complete.
};

struct driver_buffer {
    cl_mem memory;
};

struct driver_pipeline {
    const struct k_kernel *kernel;
    size_t items; // Of a workgroup.
    cl_program program;
    cl_kernel code;
};

// Writes beside the queue: part of the driver table. `aside_end` waits for them and forgets them.
tapml_status aside_write(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         const void *source,
                         uint64_t size);
tapml_status aside_follow(struct driver_device *device, tapml_call *call, uint64_t ticket);
tapml_status aside_signal(struct driver_device *device, tapml_call *call, uint64_t mark);
tapml_status aside_join(struct driver_device *device, tapml_call *call, uint64_t mark);
void aside_end(struct driver_device *device);

// The event of a ticket; NULL: it is reached.
cl_event queue_marker(const struct driver_device *device, uint64_t ticket);

// The status that a code of OpenCL stands for; says which call it comes from.
tapml_status
driver_check(const struct gpu_host *host, tapml_call *call, cl_int code, const char *what);
