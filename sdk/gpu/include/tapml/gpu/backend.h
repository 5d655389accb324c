// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// sdk/gpu as a plugin sees it: the backend of the ABI over a driver table.
//
// A GPU plugin is a driver, a table of kernels in its language, and two calls: `gpu_backend_probe`
// in its component's `probe`, `gpu_backend_create` in its `create`. The ops, their checks and their
// launches come with this library; those of the driver itself are in its table (struct gpu_own).
//
// Options of the component that this library reads, to be declared in the plugin's manifest:
//   synchronous  0 or 1; 1 waits after every launch, so that a failure names its op call
//   tile         small, large or auto: how work is cut (struct gpu_limits)
#ifndef TAPML_GPU_BACKEND_H
#define TAPML_GPU_BACKEND_H

#include <tapml/backend.h>
#include <tapml/gpu/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

// Finds out whether the driver can work here: loads and unloads it. For a component's `probe`.
// TAPML_INVALID, as in gpu_backend_create, where the table has an op or a kernel of its own that
// cannot be.
tapml_status
gpu_backend_probe(const struct gpu_driver *driver, const tapml_host *host, tapml_call *call);

// Makes the root object of kind TAPML_KIND_BACKEND. `driver` is constant and stays.
tapml_status gpu_backend_create(const struct gpu_driver *driver,
                                const tapml_host *host,
                                tapml_call *call,
                                tapml_object **out_root);

#ifdef __cplusplus
}
#endif

#endif
