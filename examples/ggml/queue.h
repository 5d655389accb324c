// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>

// Queues and timelines: members of tapml_backend. Work is done at once, so a queue holds nothing
// and a timeline is a number.

tapml_status queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue);
tapml_status queue_signal(tapml_object *queue, tapml_call *call, tapml_point point);
tapml_status queue_timeline_new(tapml_object *device,
                                tapml_call *call,
                                uint64_t initial,
                                tapml_object **out_timeline);
tapml_status queue_timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value);
tapml_status
queue_timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns);
