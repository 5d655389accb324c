// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What plugin/device, plugin/device_buffers and plugin/device_aside know of an open device; private
// to them.
#pragma once

#include "device/backend.h"
#include "plugin/call.h"
#include "plugin/device_memory.h"
#include "plugin/recent_calls.h"
#include "plugin/services.h"

#include <tapml/draft/tuning.h>

struct arena;

enum { DEVICE_FOUND_SLOTS = 256 };

struct device_op {
    struct call_frame frame;
    struct arithmetic arithmetic;     // As the device declares it.
    const struct compiled_op *schema; // Of the plugin.
    uint32_t lacks;                   // Parameters of which it has less than the catalogue.
    uint64_t tuned;                   // A hash of the settings that it was given; 0: none.
    char tuned_identity[128];         // Its identity with them, once it was asked for.
};

// What plugin/device_aside knows.
struct device_aside {
    tapml_object *queue; // NULL until it is used.
    tapml_object *timeline;
    uint64_t signalled; // The last point,
    uint64_t opened_at; // and that at which the queue was opened.
    int has_pending;    // Something was written since the first queue waited for all of it.
};

struct device {
    struct backend backend;
    struct arena *arena;
    struct backend_info info;
    const tapml_backend *table;
    const tapml_object *root; // Of the component.
    tapml_object *device;
    tapml_object *queue;
    tapml_object *timeline;
    const tapml_identity *identity;     // Of the device, or NULL.
    const tapml_arithmetic *arithmetic; // Of the device, or NULL.
    const tapml_subgraph *subgraph;     // Of the device, or NULL.
    const tapml_tuning *tuning;         // Of the device, or NULL.
    struct device_memory memory;        // Of the host, in buffers of the device.
    const tapml_counters *counters;     // Of the queue, or NULL.
    uint64_t launches_before;           // Of queues that are gone.
    struct device_aside aside;
    uint64_t signalled; // The last point: the timeline's last value.
    uint64_t flushed;   // The last point that was handed over,
    uint64_t reached;   // and the last that is known to be reached.
    int has_pending;    // Something was queued since the last wait for all,
    int has_unmarked;   // and since the last point.
    int is_lost;
    char loss[512]; // What was said when it was.
    struct tapml_call call;
    struct device_op *ops;
    size_t op_count;
    struct {
        const tapml_op *key;
        struct device_op *op; // NULL: the device lacks it.
    } found[DEVICE_FOUND_SLOTS];
    struct recent_calls calls; // On the queue.
};

static inline struct device *device_own(const struct backend *backend)
{
    return (struct device *)(uintptr_t)backend;
}

// Around each call of the plugin's table, whose `tapml_call` is that of the device.
// `device_state_begin` fails with TAPML_DEVICE_LOST, and with what was said when the device was
// lost. `device_state_finish` returns `status` with a message that names component and method.
tapml_status device_state_begin(struct device *device) STATUS_USED;
tapml_status
device_state_finish(struct device *device, tapml_status status, const char *method) STATUS_USED;

// Something was queued.
void device_state_note_work(struct device *device);
