// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver over OpenCL 1.2 and later: what its files share.
//
// OpenCL keeps an in-order queue, orders memory by itself and copies kernel arguments at the
// enqueue, so that each function of the driver table is one call, or nearly.
#pragma once

#include <tapml/gpu/support.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

enum { DRIVER_DEVICE_MAX = 16, DRIVER_PLATFORM_MAX = 16, DRIVER_MARKER_MAX = 64 };

// The library, opened at run time.
struct driver_functions {
#define SYMBOL(name) cl_api_##name name;
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

// The whole driver, for entry.c.
extern const struct gpu_driver driver_table;

// The status that a code of OpenCL stands for; says which call it comes from.
tapml_status
driver_check(const struct gpu_host *host, tapml_call *call, cl_int code, const char *what);

// The entries of the table (tapml/gpu/driver.h), by file.
tapml_status device_describe(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description);
tapml_status device_open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device);
void device_close(struct driver_device *device);

tapml_status memory_new(struct driver_device *device,
                        tapml_call *call,
                        uint64_t size,
                        struct driver_buffer **out_buffer);
void memory_free(struct driver_device *device, struct driver_buffer *buffer);
tapml_status memory_write(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size);
tapml_status memory_read(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size);
tapml_status memory_copy(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *source,
                         uint64_t source_offset,
                         struct driver_buffer *target,
                         uint64_t target_offset,
                         uint64_t size);

tapml_status pipeline_new(struct driver_device *device,
                          tapml_call *call,
                          const struct k_kernel *kernel,
                          const uint32_t *tune,
                          struct driver_pipeline **out_pipeline);
void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline);

tapml_status
queue_launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch);
tapml_status queue_signal(struct driver_device *device, tapml_call *call, uint64_t ticket);
tapml_status queue_flush(struct driver_device *device, tapml_call *call);
tapml_status queue_wait(struct driver_device *device,
                        tapml_call *call,
                        uint64_t ticket,
                        uint64_t timeout_ns,
                        uint64_t *out_reached);
