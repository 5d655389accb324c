// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The pipeline cache on disk, one file for each device and driver.
#include "driver.h"

#include <tapml/gpu/cache.h>

#include <string.h>

static struct gpu_cache_key make_key(const struct device_traits *traits)
{
    const uint32_t numbers[] = {traits->vendor, traits->device, traits->version};
    struct gpu_cache_key key = {0};

    gpu_cache_key_add(&key, numbers, sizeof(numbers));
    gpu_cache_key_add(&key, traits->cache_uuid, sizeof(traits->cache_uuid));
    return key;
}

// Whether the data begins as Vulkan says that it does, for this device. Drivers should look
// themselves; not all have.
static int is_of_device(const struct device_traits *traits, const struct gpu_text *data)
{
    VkPipelineCacheHeaderVersionOne head;

    if (data->size < sizeof(head)) {
        return 0;
    }
    memcpy(&head, data->data, sizeof(head));
    return head.headerSize >= sizeof(head) && head.headerSize <= data->size &&
           head.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           head.vendorID == traits->vendor && head.deviceID == traits->device &&
           memcmp(head.pipelineCacheUUID, traits->cache_uuid, VK_UUID_SIZE) == 0;
}

void cache_load(struct driver_device *device)
{
    const struct gpu_host *host = device->root->host;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    struct gpu_text data = {0};

    if (!device->is_cache_on) {
        return;
    }
    const struct gpu_cache_key key = make_key(&device->traits);

    if (gpu_cache_load(host, &key, &data) && is_of_device(&device->traits, &data)) {
        info.initialDataSize = data.size;
        info.pInitialData = data.data;
    }
    if (device->vk.vkCreatePipelineCache(device->device, &info, NULL, &device->cache) < 0) {
        device->cache = VK_NULL_HANDLE; // Then nothing is kept.
    }
    device->cached_bytes = info.initialDataSize;
    gpu_free(host, data.data, data.size);
}

void cache_store(struct driver_device *device)
{
    const struct gpu_host *host = device->root->host;
    size_t size = 0;

    if (device->cache == VK_NULL_HANDLE ||
        device->vk.vkGetPipelineCacheData(device->device, device->cache, &size, NULL) < 0 ||
        size == 0 || size == device->cached_bytes) {
        return; // Nothing, or nothing new.
    }
    const size_t room = size;
    uint8_t *data = gpu_alloc(host, room);

    if (data != NULL && device->vk.vkGetPipelineCacheData(device->device, device->cache, &size,
                                                          data) == VK_SUCCESS) {
        const struct gpu_cache_key key = make_key(&device->traits);

        gpu_cache_store(host, &key, data, size);
    }
    gpu_free(host, data, room);
}
