// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a plugin's device lets the host choose (tapml/draft/tuning.h); part of plugin/device. What a
// plugin says is checked, and its mistakes are TAPML_ABI_MISMATCH or TAPML_INVALID with component
// and op.
//
// One thread, that of the device.
#pragma once

#include "plugin/device_state.h"

struct knob_space;

// The interface of an open device, or NULL.
const tapml_tuning *device_tuning_find(tapml_object *object);

// As `knobs_ask`. The device has the interface.
tapml_status device_tuning_ask(struct device *device,
                               const struct device_op *op,
                               const tapml_value *args,
                               struct arena *arena,
                               struct knob_space *out_space) STATUS_USED;

// As `knobs_set`. From then on the op has another identity, which depends on all that was taken.
tapml_status device_tuning_take(struct device *device,
                                struct device_op *op,
                                const tapml_setting *setting) STATUS_USED;

// The identity of an op for which settings were taken, of `digest` without them. Lives as long as
// the device, or until another setting is taken.
const char *device_tuning_identity(struct device_op *op, const char *digest);
