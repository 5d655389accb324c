// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

// Binds the buffers, hands over the parameters, and queues the workgroups.
tapml_status
queue_launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch)
{
    return gpu_fail(device->root->host, call, TAPML_UNIMPLEMENTED, 0, "%s: no launch",
                    launch->pipeline->kernel->name);
}

// An event behind the commands. These are done, so that the ticket is reached at once.
tapml_status queue_signal(struct driver_device *device, tapml_call *call, uint64_t ticket)
{
    device->reached = ticket;
    return TAPML_OK;
}

tapml_status queue_flush(struct driver_device *device, tapml_call *call)
{
    return TAPML_OK;
}

tapml_status queue_wait(struct driver_device *device,
                        tapml_call *call,
                        uint64_t ticket,
                        uint64_t timeout_ns,
                        uint64_t *out_reached)
{
    *out_reached = device->reached;
    return TAPML_OK;
}
