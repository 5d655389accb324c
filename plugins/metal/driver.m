// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"
#include "sources.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

extern const struct k_kernel msl_kernels[]; // Written by kembed.

tapml_status driver_fail(const struct driver_root *root,
                         tapml_call *call,
                         tapml_status code,
                         NSError *error,
                         const char *what)
{
    const char *text = error != nil ? [[error localizedDescription] UTF8String] : NULL;

    return gpu_fail(root->host, call, code, error != nil ? (int64_t)[error code] : 0, "%s: %.400s",
                    what, text != NULL ? text : "Metal does not say why");
}

static int is_taken(const struct driver_root *root, const char *id)
{
    for (uint32_t i = 0; i < root->found_count; i++) {
        if (strcmp(root->found[i].id, id) == 0) {
            return 1;
        }
    }
    return 0;
}

// Metal's own numbers change when the machine starts, so that an id is the device's name and its
// number among those of that name: "apple-m2-0".
static void name_device(const struct driver_root *root, struct driver_found *found)
{
    char name[48];
    uint32_t number = 0;

    (void)snprintf(name, sizeof(name), "%s", [[found->device name] UTF8String]); // Cut if long.
    for (size_t i = 0; name[i] != '\0'; i++) {
        const int c = (unsigned char)name[i];

        name[i] = (char)(isalnum(c) ? tolower(c) : '-');
    }
    do {
        (void)snprintf(found->id, sizeof(found->id), "%s-%u", name, number++); // Fits.
    } while (is_taken(root, found->id));
}

static void unload(struct driver_root *root)
{
    for (uint32_t i = 0; i < root->found_count; i++) {
        [root->found[i].device release];
    }
    gpu_free(root->host, root, sizeof(*root));
}

static void find_devices(struct driver_root *root)
{
    NSArray<id<MTLDevice>> *devices = MTLCopyAllDevices();

    for (NSUInteger i = 0; i < [devices count] && root->found_count < DRIVER_DEVICE_MAX; i++) {
        struct driver_found *found = &root->found[root->found_count];

        found->device = [[devices objectAtIndex:i] retain];
        name_device(root, found);
        root->found_count++;
    }
    [devices release];
}

static tapml_status
load(const struct gpu_host *host, tapml_call *call, struct driver_root **out_root)
{
    struct driver_root *root = gpu_alloc(host, sizeof(*root));

    if (root == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    root->host = host;
    @autoreleasepool {
        find_devices(root);
    }
    if (root->found_count == 0) {
        unload(root);
        return gpu_fail(host, call, TAPML_UNAVAILABLE, 0, "Metal knows no device");
    }
    *out_root = root;
    return TAPML_OK;
}

const struct gpu_driver driver_table = {
    .id = "metal",
    .kernels = msl_kernels,
    .load = load,
    .unload = unload,
    GPU_DRIVER_ENTRIES,
    .restart = queue_restart,
    .sources = DRIVER_SOURCES,
};
