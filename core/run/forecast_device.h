// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A device that is known by its file alone, as a backend: it answers what it is and what it would
// refuse, so that the host decides about it as about every other one. It has all ops and runs none.
//
// It refuses a call whose activations its kernels cannot keep, that binds more buffers than a
// kernel may, or whose output has more values than a grid has work items. What is unknown refuses
// nothing.
//
// One thread. Everything that works with buffers is TAPML_UNIMPLEMENTED.
#pragma once

#include "config/device_file.h"
#include "device/backend.h"

// `file` outlives the backend, which `backend_release` frees. `activation` is that of all its
// activations. TAPML_NO_MEMORY is the one failure.
tapml_status forecast_device_create(const struct device_file *file,
                                    enum activation activation,
                                    struct backend **out_backend) STATUS_USED;

// The buffers that a kernel of the op binds for these arguments, one for each parameter: of a list
// one at a time.
uint32_t forecast_device_bindings(const tapml_op *op, const tapml_value *args);

// The elements of the largest output among the arguments; of a written state none, since a call
// writes a part of it.
uint64_t forecast_device_outputs(const tapml_op *op, const tapml_value *args);
