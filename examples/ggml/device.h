// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The devices of the library. Its processor rounds activations before a product to what the weights
// are in: there is a device for each such form, which declares it.
#pragma once

#include "object.h"

// What `linear` takes as a weight. All other ops are the same in each form.
enum device_form {
    DEVICE_ANY,    // All, on what is no processor; bf16 is widened to f32 once.
    DEVICE_F32,    // Plain, widened to f32 once.
    DEVICE_F16,    // Plain f16.
    DEVICE_BF16,   // Plain bf16.
    DEVICE_BLOCKS, // Blocks of 32 values: Q8_0, Q4_0, Q5_0.
    DEVICE_SUPER,  // Blocks of 256 values: Q4_K, Q5_K, Q6_K.
    DEVICE_FORMS,
};

enum { DEVICE_MAX = 32, DEVICE_TEXT = 128 };

// An entry of the list of devices.
struct kind {
    ggml_backend_dev_t handle;
    enum device_form form;
    char id[DEVICE_TEXT], name[DEVICE_TEXT], driver[DEVICE_TEXT];
    tapml_device_info info;
    tapml_memory_type memory;
    const tapml_memory_type *memories[1];
};

struct root {
    struct object object;
    struct library library;
    uint32_t count;
    struct kind kinds[DEVICE_MAX];
    const tapml_device_info *infos[DEVICE_MAX];
};

// A device that is open. One call computes at a time.
struct device {
    struct object object;
    const struct kind *kind;
    ggml_backend_t backend;
    ggml_backend_buffer_type_t memory_type;
    ggml_gallocr_t allocator; // Of what lies between the steps of an op.
    size_t align;             // Of tensors that a step of the library takes.
    pthread_mutex_t lock;
    int threads;                              // Of a processor.
    ggml_backend_set_n_threads_t set_threads; // NULL of other devices.
    void *context;                            // For the steps of an op: DEVICE_CONTEXT bytes.
    void *upload;                             // What the host computes for a call: a mask.
    size_t upload_bytes;
};

enum { DEVICE_CONTEXT = 64 << 10, DEVICE_STEPS = 64 };

// Opens the library and lists its devices. TAPML_UNAVAILABLE without it.
tapml_status device_root_new(const tapml_host *host, tapml_call *call, tapml_object **out_root);

// What a device offers beside its backend: TAPML_ARITHMETIC.
const void *device_interface(tapml_object *object, const char *id);
