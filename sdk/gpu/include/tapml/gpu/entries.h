// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The functions of a driver table, with the names that the drivers of this repository use: each is
// in the source file that its name begins with. driver.h describes units, ownership, threads and
// errors of each.
#ifndef TAPML_GPU_ENTRIES_H
#define TAPML_GPU_ENTRIES_H

#include <tapml/gpu/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

// The complete driver.
extern const struct gpu_driver driver_table;

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

// Only drivers whose interface has a command for it have it.
tapml_status memory_fill(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         uint64_t size,
                         uint32_t pattern);

// Only drivers whose devices can be in the memory of the host have it.
tapml_status memory_import(struct driver_device *device,
                           tapml_call *call,
                           void *memory,
                           uint64_t size,
                           uint32_t access,
                           struct driver_buffer **out_buffer);

// Only drivers that can restart their queue have it.
tapml_status queue_restart(struct driver_device *device, tapml_call *call);

// Only drivers that are told by their interface when work is done have it.
tapml_status queue_notify(struct driver_device *device,
                          tapml_call *call,
                          uint64_t ticket,
                          struct gpu_notice *notice);

// Only drivers that take matrix products have them.
int product_is_taken(struct driver_device *device, const struct gpu_product *product);
tapml_status
product_queue(struct driver_device *device, tapml_call *call, const struct gpu_product *product);

// All functions above except those that only some have, for the initialiser of `driver_table`.
#define GPU_DRIVER_ENTRIES                                                                         \
    .describe = device_describe, .open = device_open, .close = device_close,                       \
    .buffer_new = memory_new, .buffer_free = memory_free, .pipeline_new = pipeline_new,            \
    .pipeline_free = pipeline_free, .write = memory_write, .read = memory_read,                    \
    .copy = memory_copy, .launch = queue_launch, .signal = queue_signal, .flush = queue_flush,     \
    .wait = queue_wait

#ifdef __cplusplus
}
#endif

#endif
