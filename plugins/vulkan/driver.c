// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "sources.h"

#include <stdio.h>
#include <string.h>

extern const struct k_kernel spirv_kernels[]; // Written by kembed.

static const char *const symbols[] = {
#define LOADER_SYMBOL(name) #name,
#include "driver_symbols.def"
#undef LOADER_SYMBOL
    NULL,
};

tapml_status
driver_check(const struct gpu_host *host, tapml_call *call, VkResult result, const char *what)
{
    if (result >= 0) {
        return TAPML_OK; // VK_TIMEOUT and its like are answers.
    }
    switch ((int)result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
        return gpu_fail(host, call, TAPML_NO_MEMORY, result, "%s: no memory", what);
    case VK_ERROR_DEVICE_LOST:
        return gpu_fail(host, call, TAPML_DEVICE_LOST, result,
                        "the device is lost: it was reset, hung or taken away, and what was in its "
                        "memory is gone");
    default:
        return gpu_fail(host, call, TAPML_INTERNAL, result, "%s failed with code %d", what, result);
    }
}

// -- Validation --------------------------------------------------------------------------------

static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};

tapml_status driver_complaint(const struct driver_root *root, tapml_call *call)
{
    return root->complaint[0] == '\0' ? TAPML_OK
                                      : gpu_fail(root->host, call, TAPML_INTERNAL, 0,
                                                 "the validation layer says: %s", root->complaint);
}

// Everything that the layer says is logged; the first of it fails the next wait. A warning, too:
// that is what an access out of bounds is reported as.
static VkBool32 VKAPI_PTR hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                               VkDebugUtilsMessageTypeFlagsEXT types,
                               const VkDebugUtilsMessengerCallbackDataEXT *data,
                               void *user)
{
    struct driver_root *root = user;
    const struct gpu_host *host = root->host;

    host->core->log(host->host, TAPML_LOG_ERROR, data->pMessage, strlen(data->pMessage));
    if (root->complaint[0] == '\0') {
        (void)snprintf(root->complaint, sizeof(root->complaint), "%s", data->pMessage); // Or cut.
    }
    return VK_FALSE;
}

static tapml_status listen(struct driver_root *root, tapml_call *call)
{
    const VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = hear,
        .pUserData = root,
    };
    const PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)root->loader.vkGetInstanceProcAddr(
            root->instance, "vkCreateDebugUtilsMessengerEXT");

    return driver_check(root->host, call, create(root->instance, &info, NULL, &root->messenger),
                        "vkCreateDebugUtilsMessengerEXT");
}

static void stop_listening(struct driver_root *root)
{
    if (root->messenger != VK_NULL_HANDLE) {
        const PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)root->loader.vkGetInstanceProcAddr(
                root->instance, "vkDestroyDebugUtilsMessengerEXT");

        destroy(root->instance, root->messenger, NULL);
    }
}

// -- Devices -----------------------------------------------------------------------------------

static int is_usable(const struct driver_root *root, VkPhysicalDevice physical)
{
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    VkPhysicalDeviceProperties2 properties = {.sType =
                                                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};

    root->vk.vkGetPhysicalDeviceProperties2(physical, &properties);
    if (properties.properties.apiVersion < VK_API_VERSION_1_2) {
        return 0;
    }
    root->vk.vkGetPhysicalDeviceFeatures2(physical, &features);
    return timeline.timelineSemaphore == VK_TRUE;
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

// The first word of the driver's name in small letters, and the device's number among those of that
// driver: "radv-0". The UUIDs of devices without hardware are all alike.
static void name_device(const struct driver_root *root, struct driver_found *found)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    char word[33] = "device";
    uint32_t number = 0;

    root->vk.vkGetPhysicalDeviceProperties2(found->device, &properties);
    for (size_t i = 0; i + 1 < sizeof(word); i++) {
        const char c = driver.driverName[i];

        if (c >= 'A' && c <= 'Z') {
            word[i] = (char)(c - 'A' + 'a');
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            word[i] = c;
        } else if (i > 0) {
            word[i] = '\0';
            break;
        } else {
            break;
        }
    }
    do {
        (void)snprintf(found->id, sizeof(found->id), "%s-%u", word, number++); // Fits.
    } while (is_taken(root, found->id));
}

static tapml_status find_devices(struct driver_root *root, tapml_call *call)
{
    VkPhysicalDevice all[DRIVER_DEVICE_MAX];
    uint32_t count = DRIVER_DEVICE_MAX;
    const VkResult result = root->vk.vkEnumeratePhysicalDevices(root->instance, &count, all);

    if (result < 0 || count == 0) {
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, result,
                        "libvulkan.so.1 knows no device: no Vulkan driver is installed");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (is_usable(root, all[i])) {
            struct driver_found *found = &root->found[root->found_count];

            found->device = all[i];
            name_device(root, found);
            root->found_count++;
        }
    }
    return root->found_count > 0
               ? TAPML_OK
               : gpu_fail(root->host, call, TAPML_UNAVAILABLE, 0,
                          "none of %u devices has Vulkan 1.2 with timeline semaphores", count);
}

// -- Life --------------------------------------------------------------------------------------

static tapml_status make_instance(struct driver_root *root, tapml_call *call, int is_validated)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    const VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                              .enabledValidationFeatureCount = 1,
                                              .pEnabledValidationFeatures = enables};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = is_validated ? &features : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = is_validated ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = is_validated ? 1 : 0,
        .ppEnabledExtensionNames = extensions,
    };
    const VkResult result = root->loader.vkCreateInstance(&info, NULL, &root->instance);

    if (result < 0) {
        root->instance = NULL;
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, result, "%s",
                        result == VK_ERROR_LAYER_NOT_PRESENT
                            ? "option 'validation' is 1, and the validation layer is not installed"
                            : "libvulkan.so.1 makes no instance: no Vulkan driver is installed");
    }
#define INSTANCE_SYMBOL(name)                                                                      \
    root->vk.name = (PFN_##name)root->loader.vkGetInstanceProcAddr(root->instance, #name);
#include "driver_symbols.def"
#undef INSTANCE_SYMBOL
    return is_validated ? listen(root, call) : TAPML_OK;
}

static void unload(struct driver_root *root)
{
    if (root->instance != NULL) {
        stop_listening(root);
        root->vk.vkDestroyInstance(root->instance, NULL);
    }
    gpu_library_close(root->library);
    gpu_free(root->host, root, sizeof(*root));
}

static tapml_status
load(const struct gpu_host *host, tapml_call *call, struct driver_root **out_root)
{
    static const char *const switches[] = {"0", "1"};
    struct driver_root *root = gpu_alloc(host, sizeof(*root));
    uint32_t is_validated = 0;

    if (root == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    root->host = host;
    tapml_status status = gpu_option(host, call, "validation", switches, 2, &is_validated);

    if (status == TAPML_OK) {
        status =
            gpu_library_open(host, call, "libvulkan.so.1", symbols, &root->loader, &root->library);
    }
    if (status == TAPML_OK) {
        status = make_instance(root, call, is_validated != 0);
    }
    if (status == TAPML_OK) {
        status = find_devices(root, call);
    }
    if (status != TAPML_OK) {
        unload(root);
        return status;
    }
    *out_root = root;
    return TAPML_OK;
}

const struct gpu_driver driver_table = {
    .id = "vulkan",
    .kernels = spirv_kernels,
    .load = load,
    .unload = unload,
    GPU_DRIVER_ENTRIES,
    .sources = DRIVER_SOURCES,
    .passing = GPU_PASSES_BINDINGS,
    .code_ending = ".spv",
};
