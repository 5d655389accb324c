// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

const void *gpu_no_interface(tapml_object *object, const char *id)
{
    return NULL;
}

tapml_status gpu_no_memory(const struct gpu_host *host, tapml_call *call)
{
    return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
}

tapml_status gpu_device_check(const struct gpu_device *device, tapml_call *call)
{
    return device->failure == TAPML_OK ? TAPML_OK
                                       : gpu_fail(&device->root->host, call, device->failure, 0,
                                                  "earlier work on this device has failed");
}
