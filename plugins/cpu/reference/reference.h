// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/memory/object.h>

#include <stdbool.h>

// The devices of the component `reference`: the same ops with different arithmetic, so that their
// differences show how much a correct backend may lose.

// In which order a device adds the terms of a sum.
enum reference_order {
    REFERENCE_FORWARD,  // From the first to the last, in one chain.
    REFERENCE_REVERSED, // From the last to the first, in one chain.
    REFERENCE_BLOCKED,  // Blocks of 32 terms, each a sum of its own; then these, in order.
    REFERENCE_F16,      // As FORWARD; the sum is rounded to f16 after each term,
    REFERENCE_BF16,     // to bf16.
};

struct reference_device {
    tapml_device_info info;
    const tapml_op_impl *const *impls; // TAPML_OPS_COUNT of them.
    enum reference_order order;
    bool rounds_f16;   // Each f32 output is rounded to f16 and widened again.
    bool is_f32_alone; // Activations are f32; the others' may be f16, too.
};

enum { REFERENCE_DEVICE_COUNT = 7 };

// The devices, the default first, and the component.
extern const struct reference_device *const reference_devices[REFERENCE_DEVICE_COUNT];
extern const struct memory_component reference_component;

// The plugin's device of a device or a queue.
static inline const struct reference_device *reference_device_of(tapml_object *object)
{
    return memory_object_of(object)->device;
}

// `ops` of the backend table: those of the device.
tapml_status reference_ops(tapml_object *device,
                           tapml_call *call,
                           const tapml_op_impl *const **out_list,
                           uint32_t *out_count);

// `supports` of the backend table: no to encodings that are not known, to dtypes that no op
// here reads, and to what a schema cannot say of heads. All devices that take the same types answer
// alike.
tapml_status reference_supports(tapml_object *device,
                                tapml_call *call,
                                const tapml_op *op,
                                const tapml_value *args,
                                uint32_t n_args,
                                tapml_support *answer);
