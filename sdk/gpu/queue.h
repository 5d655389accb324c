// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Queues and timelines: the functions of the backend's table that queue work on a device and wait
// for it. <tapml/backend.h> describes units, ownership, threads and errors of each.
//
// A device is one stream, independently of the number of queues. The driver counts tickets on it; a
// timeline maps values of the host to tickets, so any number of timelines can follow one stream.
//
// A second queue that only writes does so beside the stream, if the driver can (aside_write). Its
// signals are marks; where the host waits for one, the stream waits for it, and gives a ticket.
#pragma once

#include "objects.h"

tapml_status gpu_queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue);
tapml_status gpu_queue_write(tapml_object *queue,
                             tapml_call *call,
                             tapml_object *buffer,
                             uint64_t offset,
                             const void *source,
                             uint64_t size);
tapml_status gpu_queue_read(tapml_object *queue,
                            tapml_call *call,
                            tapml_object *buffer,
                            uint64_t offset,
                            void *target,
                            uint64_t size);
tapml_status gpu_queue_copy(tapml_object *queue,
                            tapml_call *call,
                            tapml_object *source,
                            uint64_t source_offset,
                            tapml_object *target,
                            uint64_t target_offset,
                            uint64_t size);
tapml_status gpu_queue_fill(tapml_object *queue,
                            tapml_call *call,
                            tapml_object *buffer,
                            uint64_t offset,
                            uint64_t size,
                            uint32_t pattern);

// Before anything but a write on a queue: from then on all that it does is in the order of the
// stream.
tapml_status gpu_queue_leave_aside(struct gpu_queue *queue, tapml_call *call);
tapml_status gpu_queue_signal(tapml_object *queue, tapml_call *call, tapml_point point);
tapml_status gpu_queue_flush(tapml_object *queue, tapml_call *call);

// Accepts only points of this device; its stream has ordered them already.
tapml_status gpu_queue_wait(tapml_object *queue, tapml_call *call, tapml_point point);

tapml_status gpu_timeline_new(tapml_object *device,
                              tapml_call *call,
                              uint64_t initial,
                              tapml_object **out_timeline);
tapml_status gpu_timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value);
tapml_status
gpu_timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns);
tapml_status gpu_timeline_notify(
    tapml_object *timeline, tapml_call *call, uint64_t value, tapml_notified function, void *user);
