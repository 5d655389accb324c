// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A Vulkan layer that loses a device: submission number TAPML_LOSE_AT of the process fails, and so
// does everything that is submitted or waited for from then on.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkQueueSubmit next_submit;
static PFN_vkQueueWaitIdle next_idle;
static PFN_vkWaitSemaphores next_wait;
static atomic_long submission_count;
static atomic_bool is_lost;

static VkResult VKAPI_CALL submit(VkQueue queue,
                                  uint32_t count,
                                  const VkSubmitInfo *infos,
                                  VkFence fence)
{
    const char *at = getenv("TAPML_LOSE_AT");

    if (at != NULL && atomic_fetch_add(&submission_count, 1) + 1 == strtol(at, NULL, 10)) {
        (void)next_idle(queue); // The real device must be through with what will be freed.
        is_lost = true;
    }
    return is_lost ? VK_ERROR_DEVICE_LOST : next_submit(queue, count, infos, fence);
}

static VkResult VKAPI_CALL wait(VkDevice device,
                                const VkSemaphoreWaitInfo *info,
                                uint64_t timeout_ns)
{
    return is_lost ? VK_ERROR_DEVICE_LOST : next_wait(device, info, timeout_ns);
}

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkInstance *out_instance)
{
    // The chain is the loader's, which has it changed.
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;

    while (link != NULL && (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
                            link->function != VK_LAYER_LINK_INFO)) {
        link = (VkLayerInstanceCreateInfo *)(uintptr_t)link->pNext;
    }
    if (link == NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return ((PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance"))(info, allocator,
                                                                           out_instance);
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                         const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkDevice *out_device)
{
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;

    while (link != NULL && (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO ||
                            link->function != VK_LAYER_LINK_INFO)) {
        link = (VkLayerDeviceCreateInfo *)(uintptr_t)link->pNext;
    }
    if (link == NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;

    next_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const VkResult result =
        ((PFN_vkCreateDevice)next(NULL, "vkCreateDevice"))(physical, info, allocator, out_device);

    if (result == VK_SUCCESS) {
        next_submit = (PFN_vkQueueSubmit)next_device(*out_device, "vkQueueSubmit");
        next_idle = (PFN_vkQueueWaitIdle)next_device(*out_device, "vkQueueWaitIdle");
        next_wait = (PFN_vkWaitSemaphores)next_device(*out_device, "vkWaitSemaphores");
    }
    return result;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL lost_layer_device(VkDevice device, const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL lost_layer_instance(VkInstance instance, const char *name);

PFN_vkVoidFunction VKAPI_CALL lost_layer_device(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        return (PFN_vkVoidFunction)lost_layer_device;
    }
    if (strcmp(name, "vkQueueSubmit") == 0) {
        return (PFN_vkVoidFunction)submit;
    }
    if (strcmp(name, "vkWaitSemaphores") == 0) {
        return (PFN_vkVoidFunction)wait;
    }
    return next_device(device, name);
}

PFN_vkVoidFunction VKAPI_CALL lost_layer_instance(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0) {
        return (PFN_vkVoidFunction)lost_layer_instance;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        return (PFN_vkVoidFunction)lost_layer_device;
    }
    if (strcmp(name, "vkCreateInstance") == 0) {
        return (PFN_vkVoidFunction)create_instance;
    }
    if (strcmp(name, "vkCreateDevice") == 0) {
        return (PFN_vkVoidFunction)create_device;
    }
    return next_instance != NULL ? next_instance(instance, name) : NULL;
}
