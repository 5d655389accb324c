// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>
#include <string.h>

enum { FAMILY_MAX = 16 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The largest heap that is the device's own.
static uint64_t local_bytes(const struct driver_root *root, VkPhysicalDevice physical)
{
    VkPhysicalDeviceMemoryProperties memory;
    uint64_t most = 0;

    root->vk.vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory.memoryHeaps[i];

        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 && heap->size > most) {
            most = heap->size;
        }
    }
    return most;
}

tapml_status device_describe(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description)
{
    VkPhysicalDeviceVulkan12Properties v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
    VkPhysicalDeviceVulkan11Properties v11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, .pNext = &v12};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v11};
    struct gpu_description description = {.memory_bytes = 0};

    if (index >= root->found_count) {
        return gpu_fail(root->host, call, TAPML_NOT_FOUND, 0, "no device %u", index);
    }
    const struct driver_found *found = &root->found[index];

    root->vk.vkGetPhysicalDeviceProperties2(found->device, &properties);
    description.memory_bytes = local_bytes(root, found->device);
    description.buffer_bytes =
        smaller(properties.properties.limits.maxStorageBufferRange, v11.maxMemoryAllocationSize);
    description.bindings = properties.properties.limits.maxPerStageDescriptorStorageBuffers;
    description.align =
        (uint32_t)smaller(properties.properties.limits.minStorageBufferOffsetAlignment, UINT32_MAX);
    // The texts are cut where they are too long.
    (void)snprintf(description.id, sizeof(description.id), "%s", found->id);
    (void)snprintf(description.name, sizeof(description.name), "%.127s",
                   properties.properties.deviceName);
    (void)snprintf(description.driver, sizeof(description.driver), "%.60s %.60s", v12.driverName,
                   v12.driverInfo);
    *out_description = description;
    return TAPML_OK;
}

void device_close(struct driver_device *device)
{
    if (device->device != NULL) {
        (void)device->vk.vkDeviceWaitIdle(device->device); // A lost device is idle.
        cache_store(device);
        queue_release(device);
        device->vk.vkDestroyCommandPool(device->device, device->commands, NULL);
        device->vk.vkDestroyPipelineCache(device->device, device->cache, NULL);
        device->vk.vkDestroyDevice(device->device, NULL);
    }
    gpu_free(device->root->host, device, sizeof(*device));
}

// -- Opening -----------------------------------------------------------------------------------

// Full subgroups are of Vulkan 1.3.
static int has_full_subgroups(const struct driver_device *device)
{
    VkPhysicalDeviceSubgroupSizeControlFeatures control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &control};

    device->root->vk.vkGetPhysicalDeviceFeatures2(device->physical, &features);
    return control.computeFullSubgroups == VK_TRUE;
}

static int has_16bit_storage(const struct driver_device *device)
{
    VkPhysicalDevice16BitStorageFeatures storage = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &storage};

    device->root->vk.vkGetPhysicalDeviceFeatures2(device->physical, &features);
    return storage.storageBuffer16BitAccess == VK_TRUE;
}

// Fills the traits, and the limits that the kernels are sized by.
static struct gpu_limits read_limits(struct driver_device *device)
{
    const VkSubgroupFeatureFlags wanted =
        VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    VkPhysicalDeviceVulkan11Properties v11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v11};
    struct device_traits *traits = &device->traits;

    device->root->vk.vkGetPhysicalDeviceProperties2(device->physical, &properties);
    const VkPhysicalDeviceProperties *general = &properties.properties;
    const VkPhysicalDeviceLimits *limits = &general->limits;

    traits->vendor = general->vendorID;
    traits->device = general->deviceID;
    traits->version = general->driverVersion;
    memcpy(traits->cache_uuid, general->pipelineCacheUUID, VK_UUID_SIZE);
    traits->allocation_bytes = v11.maxMemoryAllocationSize;
    traits->has_full_subgroups =
        general->apiVersion >= VK_API_VERSION_1_3 && has_full_subgroups(device);
    traits->has_16bit_storage = has_16bit_storage(device);
    struct gpu_limits answer = {
        .group_items = (uint32_t)smaller(limits->maxComputeWorkGroupInvocations,
                                         limits->maxComputeWorkGroupSize[0]),
        .shared_bytes = limits->maxComputeSharedMemorySize,
        .grid = (uint32_t)smaller(
            limits->maxComputeWorkGroupCount[0],
            smaller(limits->maxComputeWorkGroupCount[1], limits->maxComputeWorkGroupCount[2])),
        .features = (general->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ? GPU_FEATURE_SERIAL : 0) |
                    (traits->has_16bit_storage ? GPU_FEATURE_F16 : 0),
    };

    if ((v11.subgroupSupportedOperations & wanted) == wanted &&
        (v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
        answer.features |= GPU_FEATURE_SUBGROUP;
        answer.subgroup_min = answer.subgroup_max = v11.subgroupSize;
    }
    return answer;
}

// The first family of queues that computes.
static tapml_status
find_family(const struct driver_device *device, tapml_call *call, uint32_t *out_family)
{
    VkQueueFamilyProperties families[FAMILY_MAX];
    uint32_t count = FAMILY_MAX;

    device->root->vk.vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            *out_family = i;
            return TAPML_OK;
        }
    }
    return gpu_fail(device->root->host, call, TAPML_UNAVAILABLE, 0,
                    "the device has no queue that computes");
}

static tapml_status make_device(struct driver_device *device, tapml_call *call, uint32_t family)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDeviceSubgroupSizeControlFeatures control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .computeFullSubgroups = VK_TRUE};
    VkPhysicalDevice16BitStorageFeatures storage = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
        .pNext = device->traits.has_full_subgroups ? &control : NULL,
        .storageBuffer16BitAccess = device->traits.has_16bit_storage ? VK_TRUE : VK_FALSE};
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = &storage,
        .timelineSemaphore = VK_TRUE};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &timeline,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    const struct instance_functions *vk = &device->root->vk;

    DRIVER_TRY(device, call, vk->vkCreateDevice(device->physical, &info, NULL, &device->device));
#define DEVICE_SYMBOL(name)                                                                        \
    device->vk.name = (PFN_##name)vk->vkGetDeviceProcAddr(device->device, #name);
#include "driver_symbols.def"
#undef DEVICE_SYMBOL
    vk->vkGetPhysicalDeviceMemoryProperties(device->physical, &device->memory);
    device->vk.vkGetDeviceQueue(device->device, family, 0, &device->queue);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };

    DRIVER_TRY(device, call,
               device->vk.vkCreateCommandPool(device->device, &pool, NULL, &device->commands));
    return queue_init(device, call);
}

tapml_status device_open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device)
{
    static const char *const words[] = {"off", "on"};
    struct driver_device *device = gpu_alloc(root->host, sizeof(*device));
    uint32_t family = 0, cache = 1;

    if (device == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    device->root = root;
    device->physical = root->found[index].device;
    device->epoch = 1; // A new buffer was used in no span.
    const struct gpu_limits limits = read_limits(device);
    tapml_status status = gpu_option(root->host, call, "cache", words, 2, &cache);

    device->is_cache_on = cache != 0;
    if (status == TAPML_OK) {
        status = find_family(device, call, &family);
    }
    if (status == TAPML_OK) {
        status = make_device(device, call, family);
    }
    if (status != TAPML_OK) {
        device_close(device);
        return status;
    }
    cache_load(device);
    *out_limits = limits;
    *out_device = device;
    return TAPML_OK;
}
