// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the memory and the queue of a Vulkan device. It needs nothing but Vulkan 1.2:
//
//     cc FILE.c -lvulkan -o check && ./check [CHECK [DEVICE]]
//
// CHECK is the name of a check or 'all', DEVICE the name of a device or a part of it; without them
// it is what is defined below. The exit status is 0 if the device is right, 1 if it is wrong, 2 if
// there is no such device or check.

#ifndef FOUND_CHECK
#define FOUND_CHECK  "all"
#define FOUND_DEVICE ""
#define FOUND_SEED   1
#define FOUND_OFFSET 44
#define FOUND_SIZE   4100
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum {
    BUFFER_COUNT = 3,
    DEVICES_MAX = 16,
    FAMILIES_MAX = 16,
    SETS_MAX = 8,     // Launches between two waits,
    READS_MAX = 8,    // reads,
    ITEMS = 64,       // of a group.
    STAGING = 8 << 20 // Bytes of transfers between two waits.
};

// What `kernel_code` is compiled from, by glslangValidator -V --target-env vulkan1.1 and
// spirv-opt -O. A fill is a kernel, too.
//
//     layout(local_size_x = 64) in;
//     layout(push_constant) uniform Params {
//         uint at; uint count; uint is_fill; uint pattern; float factor;
//     } p;
//     layout(binding = 0) readonly buffer X { uint x[]; };
//     layout(binding = 1) writeonly buffer Y { uint y[]; };
//     void main()
//     {
//         uint i = gl_GlobalInvocationID.x;
//         if (i < p.count) {
//             y[p.at + i] = p.is_fill != 0 ? p.pattern
//                                          : floatBitsToUint(uintBitsToFloat(x[i]) * p.factor);
//         }
//     }
static const uint32_t kernel_code[] = {
    0x07230203, 0x00010300, 0x0008000b, 0x00000047, 0x00000000, 0x00020011, 0x00000001, 0x0006000b,
    0x00000001, 0x4c534c47, 0x6474732e, 0x3035342e, 0x00000000, 0x0003000e, 0x00000000, 0x00000001,
    0x0006000f, 0x00000005, 0x00000004, 0x6e69616d, 0x00000000, 0x0000000b, 0x00060010, 0x00000004,
    0x00000011, 0x00000040, 0x00000001, 0x00000001, 0x00040047, 0x0000000b, 0x0000000b, 0x0000001c,
    0x00050048, 0x00000012, 0x00000000, 0x00000023, 0x00000000, 0x00050048, 0x00000012, 0x00000001,
    0x00000023, 0x00000004, 0x00050048, 0x00000012, 0x00000002, 0x00000023, 0x00000008, 0x00050048,
    0x00000012, 0x00000003, 0x00000023, 0x0000000c, 0x00050048, 0x00000012, 0x00000004, 0x00000023,
    0x00000010, 0x00030047, 0x00000012, 0x00000002, 0x00040047, 0x0000001e, 0x00000006, 0x00000004,
    0x00040048, 0x0000001f, 0x00000000, 0x00000019, 0x00050048, 0x0000001f, 0x00000000, 0x00000023,
    0x00000000, 0x00030047, 0x0000001f, 0x00000002, 0x00040047, 0x00000021, 0x00000022, 0x00000000,
    0x00040047, 0x00000021, 0x00000021, 0x00000001, 0x00040047, 0x00000032, 0x00000006, 0x00000004,
    0x00040048, 0x00000033, 0x00000000, 0x00000018, 0x00050048, 0x00000033, 0x00000000, 0x00000023,
    0x00000000, 0x00030047, 0x00000033, 0x00000002, 0x00040047, 0x00000035, 0x00000022, 0x00000000,
    0x00040047, 0x00000035, 0x00000021, 0x00000000, 0x00040047, 0x00000045, 0x0000000b, 0x00000019,
    0x00020013, 0x00000002, 0x00030021, 0x00000003, 0x00000002, 0x00040015, 0x00000006, 0x00000020,
    0x00000000, 0x00040017, 0x00000009, 0x00000006, 0x00000003, 0x00040020, 0x0000000a, 0x00000001,
    0x00000009, 0x0004003b, 0x0000000a, 0x0000000b, 0x00000001, 0x0004002b, 0x00000006, 0x0000000c,
    0x00000000, 0x00040020, 0x0000000d, 0x00000001, 0x00000006, 0x00030016, 0x00000011, 0x00000020,
    0x0007001e, 0x00000012, 0x00000006, 0x00000006, 0x00000006, 0x00000006, 0x00000011, 0x00040020,
    0x00000013, 0x00000009, 0x00000012, 0x0004003b, 0x00000013, 0x00000014, 0x00000009, 0x00040015,
    0x00000015, 0x00000020, 0x00000001, 0x0004002b, 0x00000015, 0x00000016, 0x00000001, 0x00040020,
    0x00000017, 0x00000009, 0x00000006, 0x00020014, 0x0000001a, 0x0003001d, 0x0000001e, 0x00000006,
    0x0003001e, 0x0000001f, 0x0000001e, 0x00040020, 0x00000020, 0x0000000c, 0x0000001f, 0x0004003b,
    0x00000020, 0x00000021, 0x0000000c, 0x0004002b, 0x00000015, 0x00000022, 0x00000000, 0x0004002b,
    0x00000015, 0x00000027, 0x00000002, 0x0004002b, 0x00000015, 0x0000002e, 0x00000003, 0x0003001d,
    0x00000032, 0x00000006, 0x0003001e, 0x00000033, 0x00000032, 0x00040020, 0x00000034, 0x0000000c,
    0x00000033, 0x0004003b, 0x00000034, 0x00000035, 0x0000000c, 0x00040020, 0x00000037, 0x0000000c,
    0x00000006, 0x0004002b, 0x00000015, 0x0000003b, 0x00000004, 0x00040020, 0x0000003c, 0x00000009,
    0x00000011, 0x0004002b, 0x00000006, 0x00000043, 0x00000040, 0x0004002b, 0x00000006, 0x00000044,
    0x00000001, 0x0006002c, 0x00000009, 0x00000045, 0x00000043, 0x00000044, 0x00000044, 0x00050036,
    0x00000002, 0x00000004, 0x00000000, 0x00000003, 0x000200f8, 0x00000005, 0x00050041, 0x0000000d,
    0x0000000e, 0x0000000b, 0x0000000c, 0x0004003d, 0x00000006, 0x0000000f, 0x0000000e, 0x00050041,
    0x00000017, 0x00000018, 0x00000014, 0x00000016, 0x0004003d, 0x00000006, 0x00000019, 0x00000018,
    0x000500b0, 0x0000001a, 0x0000001b, 0x0000000f, 0x00000019, 0x000300f7, 0x0000001d, 0x00000000,
    0x000400fa, 0x0000001b, 0x0000001c, 0x0000001d, 0x000200f8, 0x0000001c, 0x00050041, 0x00000017,
    0x00000023, 0x00000014, 0x00000022, 0x0004003d, 0x00000006, 0x00000024, 0x00000023, 0x00050080,
    0x00000006, 0x00000026, 0x00000024, 0x0000000f, 0x00050041, 0x00000017, 0x00000028, 0x00000014,
    0x00000027, 0x0004003d, 0x00000006, 0x00000029, 0x00000028, 0x000500ab, 0x0000001a, 0x0000002a,
    0x00000029, 0x0000000c, 0x000300f7, 0x0000002d, 0x00000000, 0x000400fa, 0x0000002a, 0x0000002c,
    0x00000031, 0x000200f8, 0x0000002c, 0x00050041, 0x00000017, 0x0000002f, 0x00000014, 0x0000002e,
    0x0004003d, 0x00000006, 0x00000030, 0x0000002f, 0x000200f9, 0x0000002d, 0x000200f8, 0x00000031,
    0x00060041, 0x00000037, 0x00000038, 0x00000035, 0x00000022, 0x0000000f, 0x0004003d, 0x00000006,
    0x00000039, 0x00000038, 0x0004007c, 0x00000011, 0x0000003a, 0x00000039, 0x00050041, 0x0000003c,
    0x0000003d, 0x00000014, 0x0000003b, 0x0004003d, 0x00000011, 0x0000003e, 0x0000003d, 0x00050085,
    0x00000011, 0x0000003f, 0x0000003a, 0x0000003e, 0x0004007c, 0x00000006, 0x00000040, 0x0000003f,
    0x000200f9, 0x0000002d, 0x000200f8, 0x0000002d, 0x000700f5, 0x00000006, 0x00000046, 0x00000030,
    0x0000002c, 0x00000040, 0x00000031, 0x00060041, 0x00000037, 0x00000042, 0x00000021, 0x00000022,
    0x00000026, 0x0003003e, 0x00000042, 0x00000046, 0x000200f9, 0x0000001d, 0x000200f8, 0x0000001d,
    0x000100fd, 0x00010038,
};

struct params {
    uint32_t at, count, is_fill, pattern;
    float factor;
};

// A buffer with memory of its own.
struct memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    size_t size;
};

// What a wait copies out of the staging buffer.
struct reading {
    void *to;
    size_t staged, size;
};

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static VkCommandBuffer commands;
static int is_open; // Whether `commands` is being recorded.
static VkSemaphore timeline;
static uint64_t submitted;
static VkDescriptorSetLayout set_layout;
static VkDescriptorPool sets;
static VkPipelineLayout layout;
static VkShaderModule shader;
static VkPipeline pipeline;
static struct memory buffers[BUFFER_COUNT], staging;
static unsigned char *mapped; // The staging buffer.
static size_t staged;         // Bytes of it that are taken.
static struct reading readings[READS_MAX];
static size_t reading_count;

// A function that fails is as wrong as one that does something else.
static void must(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        (void)printf("WRONG: %s gives %d\n", what, (int)result);
        exit(1);
    }
}

// -- Opening -----------------------------------------------------------------------------------

// The first device whose name has `name` in it. Whether there is one.
static int find_device(const char *name)
{
    VkPhysicalDevice devices[DEVICES_MAX];
    uint32_t count = DEVICES_MAX;
    const VkResult result = vkEnumeratePhysicalDevices(instance, &count, devices);

    for (uint32_t i = 0; result >= 0 && i < count; i++) {
        VkPhysicalDeviceProperties properties;

        vkGetPhysicalDeviceProperties(devices[i], &properties);
        if (strstr(properties.deviceName, name) != NULL &&
            properties.apiVersion >= VK_API_VERSION_1_2) {
            (void)printf("%s, driver version 0x%08x of vendor 0x%04x\n", properties.deviceName,
                         properties.driverVersion, properties.vendorID);
            physical = devices[i];
            return 1;
        }
    }
    return 0;
}

static uint32_t find_family(void)
{
    VkQueueFamilyProperties families[FAMILIES_MAX];
    uint32_t count = FAMILIES_MAX, family = 0;

    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    while (family + 1 < count && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) {
        family++;
    }
    return family;
}

static void make_device(void)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueFamilyIndex = find_family(),
                                            .queueCount = 1,
                                            .pQueuePriorities = &priority};
    const VkPhysicalDeviceTimelineSemaphoreFeatures features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queues};
    const VkCommandPoolCreateInfo pools = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                           .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                           .queueFamilyIndex = queues.queueFamilyIndex};

    must(vkCreateDevice(physical, &info, NULL, &device), "vkCreateDevice");
    vkGetDeviceQueue(device, queues.queueFamilyIndex, 0, &queue);
    must(vkCreateCommandPool(device, &pools, NULL, &pool), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = pool,
                                             .commandBufferCount = 1};

    must(vkAllocateCommandBuffers(device, &one, &commands), "vkAllocateCommandBuffers");
}

static void make_timeline(void)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};

    must(vkCreateSemaphore(device, &info, NULL, &timeline), "vkCreateSemaphore");
}

static uint32_t find_type(uint32_t allowed, VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties properties;

    vkGetPhysicalDeviceMemoryProperties(physical, &properties);
    for (uint32_t i = 0; i < properties.memoryTypeCount; i++) {
        if ((allowed >> i & 1) != 0 &&
            (properties.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return i;
        }
    }
    (void)printf("WRONG: there is no type of memory with the properties 0x%x\n", wanted);
    exit(1);
}

static void make_memory(struct memory *made, size_t size, VkMemoryPropertyFlags wanted)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;

    must(vkCreateBuffer(device, &info, NULL, &made->buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(device, made->buffer, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex =
                                             find_type(needs.memoryTypeBits, wanted)};

    must(vkAllocateMemory(device, &memory, NULL, &made->memory), "vkAllocateMemory");
    must(vkBindBufferMemory(device, made->buffer, made->memory, 0), "vkBindBufferMemory");
    made->size = size;
}

static void make_sets(void)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * SETS_MAX};
    const VkDescriptorPoolCreateInfo pools = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                              .maxSets = SETS_MAX,
                                              .poolSizeCount = 1,
                                              .pPoolSizes = &size};

    must(vkCreateDescriptorSetLayout(device, &info, NULL, &set_layout),
         "vkCreateDescriptorSetLayout");
    must(vkCreateDescriptorPool(device, &pools, NULL, &sets), "vkCreateDescriptorPool");
}

static void make_pipeline(void)
{
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct params)};
    const VkPipelineLayoutCreateInfo layouts = {.sType =
                                                    VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                .setLayoutCount = 1,
                                                .pSetLayouts = &set_layout,
                                                .pushConstantRangeCount = 1,
                                                .pPushConstantRanges = &range};
    const VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = sizeof(kernel_code),
                                             .pCode = kernel_code};

    must(vkCreatePipelineLayout(device, &layouts, NULL, &layout), "vkCreatePipelineLayout");
    must(vkCreateShaderModule(device, &module, NULL, &shader), "vkCreateShaderModule");
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = shader,
                  .pName = "main"},
        .layout = layout};

    must(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
         "vkCreateComputePipelines");
}

static void device_open(const char *name, const size_t sizes[BUFFER_COUNT])
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    void *memory = NULL;

    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS || !find_device(name)) {
        (void)printf("there is no device '%s' of Vulkan 1.2\n", name);
        exit(2);
    }
    make_device();
    make_timeline();
    for (int i = 0; i < BUFFER_COUNT; i++) {
        make_memory(&buffers[i], sizes[i], VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    }
    make_memory(&staging, STAGING,
                VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    must(vkMapMemory(device, staging.memory, 0, VK_WHOLE_SIZE, 0, &memory), "vkMapMemory");
    mapped = memory;
    make_sets();
    make_pipeline();
}

static void free_memory(const struct memory *memory)
{
    vkDestroyBuffer(device, memory->buffer, NULL);
    vkFreeMemory(device, memory->memory, NULL);
}

static void device_close(void)
{
    (void)vkDeviceWaitIdle(device);
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyShaderModule(device, shader, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    vkDestroyDescriptorPool(device, sets, NULL);
    vkDestroyDescriptorSetLayout(device, set_layout, NULL);
    for (int i = 0; i < BUFFER_COUNT; i++) {
        free_memory(&buffers[i]);
    }
    free_memory(&staging);
    vkDestroySemaphore(device, timeline, NULL);
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
}

// -- What is queued ----------------------------------------------------------------------------

// Between two commands, and before what was read is looked at.
static void put_barrier(VkPipelineStageFlags after, VkAccessFlags access)
{
    const VkPipelineStageFlags before =
        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask =
                                        VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = access};

    vkCmdPipelineBarrier(commands, before, after, 0, 1, &memory, 0, NULL, 0, NULL);
}

// Each command is behind all before it.
static void begin_command(void)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};

    if (!is_open) {
        must(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
        is_open = 1;
    }
    put_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

static void copy_bytes(VkBuffer from, size_t source_at, VkBuffer to, size_t target_at, size_t size)
{
    const VkBufferCopy region = {source_at, target_at, size};

    begin_command();
    vkCmdCopyBuffer(commands, from, to, 1, &region);
}

static void device_write(int buffer, size_t offset, const void *from, size_t size)
{
    memcpy(mapped + staged, from, size);
    copy_bytes(staging.buffer, staged, buffers[buffer].buffer, offset, size);
    staged += size;
}

static void device_read(int buffer, size_t offset, void *to, size_t size)
{
    copy_bytes(buffers[buffer].buffer, offset, staging.buffer, staged, size);
    readings[reading_count++] = (struct reading){to, staged, size};
    staged += size;
}

static void device_copy(int from, size_t from_offset, int to, size_t to_offset, size_t size)
{
    copy_bytes(buffers[from].buffer, from_offset, buffers[to].buffer, to_offset, size);
}

static void launch(int from, int to, const struct params *params)
{
    const VkDescriptorSetAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = sets,
                                              .descriptorSetCount = 1,
                                              .pSetLayouts = &set_layout};
    const int bound[] = {from, to};
    VkDescriptorBufferInfo places[2];
    VkWriteDescriptorSet writes[2];
    VkDescriptorSet set = VK_NULL_HANDLE;

    must(vkAllocateDescriptorSets(device, &info, &set), "vkAllocateDescriptorSets");
    for (uint32_t i = 0; i < 2; i++) {
        places[i] = (VkDescriptorBufferInfo){buffers[bound[i]].buffer, 0, VK_WHOLE_SIZE};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &places[i]};
    }
    vkUpdateDescriptorSets(device, 2, writes, 0, NULL);
    begin_command();
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*params), params);
    vkCmdDispatch(commands, (params->count + ITEMS - 1) / ITEMS, 1, 1);
}

static void device_fill(int buffer, size_t offset, size_t size, uint32_t pattern)
{
    const struct params params = {(uint32_t)(offset / 4), (uint32_t)(size / 4), 1, pattern, 0};

    launch(buffer, buffer, &params);
}

// Writes `count` floats of a buffer, times a factor, to another one.
static void device_scale(int from, int to, size_t to_offset, size_t count, float factor)
{
    const struct params params = {(uint32_t)(to_offset / 4), (uint32_t)count, 0, 0, factor};

    launch(from, to, &params);
}

// -- Waiting -----------------------------------------------------------------------------------

static void submit(void)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &submitted};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &timeline};

    submitted++;
    put_barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    must(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    must(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    is_open = 0;
}

// Submits what is queued, and waits for it.
static void device_wait(void)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline,
                                      .pValues = &submitted};

    submit();
    must(vkWaitSemaphores(device, &info, UINT64_MAX), "vkWaitSemaphores");
    for (size_t i = 0; i < reading_count; i++) {
        memcpy(readings[i].to, mapped + readings[i].staged, readings[i].size);
    }
    reading_count = staged = 0;
    must(vkResetDescriptorPool(device, sets, 0), "vkResetDescriptorPool");
}

#include "checks.h"
