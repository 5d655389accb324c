// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a timeline's host wants to be notified of: one notice for each timeline_notify.
//
// A notice has two owners, the timeline's list and the driver, which gives it (gpu_notice_give in
// support.h) on a thread of its own. Its function is called by the first of them, and the last one
// frees it. So it does no harm if a driver gives notices late, or after a failure.
#pragma once

#include <tapml/backend.h>
#include <tapml/gpu/support.h>

// Makes a notice of `value` and adds it to a list. The caller passes it to the driver, or takes it
// back by gpu_notices_drop. TAPML_NO_MEMORY alone.
tapml_status gpu_notices_add(struct gpu_notice **list,
                             const struct gpu_host *host,
                             tapml_call *call,
                             uint64_t value,
                             tapml_notified function,
                             void *user,
                             struct gpu_notice **out_notice);

// Frees the notice that was added last, which the driver has refused. Its function is not called.
void gpu_notices_drop(struct gpu_notice **list);

// Takes all notices up to `value` off a list: it has been reached, or never will be, as `status`
// says. The functions of all have returned then. A driver that has not yet given them is waited for
// a little while: it knows the moment more exactly.
void gpu_notices_end(struct gpu_notice **list, uint64_t value, tapml_status status);
