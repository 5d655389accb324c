// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_state.h"

#include <stdio.h>

tapml_status device_state_finish(struct device *device, tapml_status status, const char *method)
{
    const int is_loss = status == TAPML_DEVICE_LOST && !device->is_lost;
    const tapml_status result = services_end(&device->call, status, device->info.component, method);
    if (is_loss) {
        device->is_lost = 1;
        (void)snprintf(device->loss, sizeof(device->loss), "%s", status_message());
    }
    return result;
}

tapml_status device_state_begin(struct device *device)
{
    if (device->is_lost) { // Each later use reports why.
        return status_fail(TAPML_DEVICE_LOST, "%s", device->loss);
    }
    if (!device->queue) {
        return status_fail(TAPML_DEVICE_LOST, "%s: the device '%s' is lost", device->info.component,
                           device->info.device);
    }
    services_begin(&device->call);
    return TAPML_OK;
}

void device_state_note_work(struct device *device)
{
    device->has_pending = 1;
    device->has_unmarked = 1;
}
