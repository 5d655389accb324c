// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.tuning/1-draft1 for every driver. The function of an op that has knobs chooses values by
// itself, and then shows them to gpu_tuning_choose, which puts those in their place that the host
// has set for the class of the call. In a dry run that the host asks for knobs, the same call notes
// what there is to choose: so what is declared is what is launched.
//
// One thread: that of the device.
#pragma once

#include "plan.h"

#include <tapml/draft/tuning.h>

// Knobs of an op, values of one, classes that have a setting at a time.
enum { GPU_KNOBS_MAX = 8, GPU_KNOB_VALUES_MAX = 10, GPU_SETTINGS_MAX = 256 };

struct gpu_knob {
    const char *name, *about;
    const int64_t *values;
    uint32_t n_values;
};

// What can be chosen for a call. `subject` is what the two functions get; they are called at once.
struct gpu_choice {
    const char *op; // "tapml.linear".
    const struct gpu_knob *knobs;
    uint32_t count;
    const void *subject;

    // Writes the class of the call, which decides all that `is_legal` looks at.
    void (*print_class)(const struct gpu_queue *queue,
                        const void *subject,
                        char out_class[TAPML_TUNING_CLASS_BYTES]);

    // Whether kernels compute the call with these values, each of which is one of its knob.
    int (*is_legal)(const struct gpu_queue *queue, const void *subject, const uint32_t *values);
};

// Replaces the values, one for each knob, by those that were set for the class of the call, where
// there are some and they are legal for it.
void gpu_tuning_choose(struct gpu_queue *queue,
                       const struct gpu_choice *choice,
                       uint32_t *io_values);

// The values of the lists above, as static data: `GPU_KNOB("items", "work items", 1, 2, 4)`.
#define GPU_KNOB(name_, about_, ...)                                                               \
    {                                                                                              \
        name_, about_, (const int64_t[]){__VA_ARGS__},                                             \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                               \
    }

// The knobs of an op by its full name, as the function of the op shows them; 0 where there are
// none.
uint32_t gpu_tuning_find(const char *op, const struct gpu_knob **out_knobs);

// Of ops/linear.c and ops/attention.c.
enum { GPU_LINEAR_KNOBS = 8, GPU_ATTENTION_KNOBS = 5 };
extern const struct gpu_knob gpu_linear_knobs[GPU_LINEAR_KNOBS];
extern const struct gpu_knob gpu_attention_knobs[GPU_ATTENTION_KNOBS];

// The interface of `device`; NULL where a kernel of somebody else computes its one op.
const tapml_tuning *gpu_tuning(const struct gpu_device *device);
void gpu_tuning_release(struct gpu_device *device);
