// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver over Vulkan 1.2 and later: what its files share.
//
// Commands are recorded into a batch, which is submitted when it is full or when somebody flushes,
// and signals its serial number on the device's one timeline semaphore. A few batches take turns,
// so that the host records one while the device runs another, and all that is here has a bound.
#pragma once

#include <tapml/gpu/entries.h>
#include <tapml/gpu/support.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

enum {
    DRIVER_DEVICE_MAX = 16,
    DRIVER_BATCH_COUNT = 4,
    DRIVER_SET_MAX = 256,               // Launches in one batch,
    DRIVER_READ_MAX = 64,               // and reads,
    DRIVER_STAGING_BYTES = 4 * 1 << 20, // and bytes to and from the host.
};

// The library, opened at run time. Everything else is asked for by name.
struct driver_functions {
#define LOADER_SYMBOL(name) PFN_##name name;
#include "driver_symbols.def"
#undef LOADER_SYMBOL
};

struct instance_functions {
#define INSTANCE_SYMBOL(name) PFN_##name name;
#include "driver_symbols.def"
#undef INSTANCE_SYMBOL
};

struct device_functions {
#define DEVICE_SYMBOL(name) PFN_##name name;
#include "driver_symbols.def"
#undef DEVICE_SYMBOL
};

struct driver_found {
    VkPhysicalDevice device;
    char id[64];
};

struct driver_root {
    const struct gpu_host *host;
    void *library;
    struct driver_functions loader;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    struct instance_functions vk;
    char complaint[400]; // What the validation layer said first; or empty.
    uint32_t found_count;
    struct driver_found found[DRIVER_DEVICE_MAX];
};

// A piece of memory, taken or free. A block's pieces lie side by side, in order, and leave nothing
// out.
struct memory_piece {
    struct memory_piece *next;
    uint64_t at, size;
    int is_taken;
};

// One allocation of Vulkan's, of which there may be few (4096), shared by many buffers.
struct memory_block {
    struct memory_block *next;
    VkDeviceMemory memory;
    uint32_t type;
    struct memory_piece *pieces;
};

// A span is what lies between two barriers; the epoch counts them. Within one span a buffer is read
// any number of times or written once.
struct driver_buffer {
    VkBuffer buffer;
    struct memory_block *block; // Where its bytes are,
    struct memory_piece *piece; // and which.
    uint64_t read_epoch, write_epoch;
};

struct batch_read {
    void *target;
    uint64_t at, size; // Of the staging memory.
};

struct batch {
    VkCommandBuffer commands;
    VkDescriptorPool pool;
    struct driver_buffer staging;
    char *mapped;    // The staging memory.
    int is_open;     // Commands can be recorded.
    uint64_t serial; // Given when it is submitted; 0 when it is not under way.
    uint64_t ticket; // The last that was signalled up to its end.
    uint32_t set_count, read_count;
    uint64_t staged; // Bytes of staging in use.
    struct batch_read reads[DRIVER_READ_MAX];
};

// What open asks of a device.
struct device_traits {
    uint32_t vendor, device, version; // Who wrote a pipeline cache.
    uint8_t cache_uuid[VK_UUID_SIZE];
    uint64_t allocation_bytes; // The largest.
    int has_16bit_storage;     // Buffers may be of 16-bit values.
    int has_full_subgroups;    // Every work item of a subgroup can be made to take part.
};

struct driver_device {
    struct driver_root *root;
    VkPhysicalDevice physical;
    struct device_traits traits;
    VkDevice device;
    VkQueue queue;
    VkCommandPool commands;
    VkSemaphore timeline;
    VkPipelineCache cache;
    int is_cache_on;       // The option `cache`.
    uint64_t cached_bytes; // Of the cache as it was loaded.
    struct device_functions vk;
    VkPhysicalDeviceMemoryProperties memory;
    struct memory_block *blocks;
    VkResult failure; // For good: of a submission, or the device is lost.
    uint64_t epoch;
    struct batch batches[DRIVER_BATCH_COUNT];
    uint32_t current; // The batch being recorded; or, not yet open, the next: then the oldest.
    uint64_t serial;  // The last one given.
    uint64_t ticket;  // The last one signalled.
    uint64_t reached; // The last one known to be reached.
};

struct driver_pipeline {
    const struct k_kernel *kernel;
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

// The status that a result of Vulkan stands for; says which call it comes from. A device that is
// lost stays lost: from then on all that is queued fails with this sentence.
tapml_status
driver_check(const struct gpu_host *host, tapml_call *call, VkResult result, const char *what);

// Passes the failure of a device's call on.
#define DRIVER_TRY(device, call, called)                                                           \
    do {                                                                                           \
        const tapml_status try_status = driver_check((device)->root->host, call, called, #called); \
        if (try_status != TAPML_OK) {                                                              \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

// What the validation layer has said, as a failure; TAPML_OK where it is silent or off.
tapml_status driver_complaint(const struct driver_root *root, tapml_call *call);

// The pipeline cache of a device, from the user's cache folder, and back into it. Neither can fail:
// without a cache pipelines are compiled again, and where a file is not to be trusted it is not
// read.
void cache_load(struct driver_device *device);
void cache_store(struct driver_device *device);

// Makes a buffer in memory with the properties `wanted`; where `out_mapped` is not NULL, in an
// allocation of its own, mapped. memory_drop takes what was made half-way, too.
tapml_status memory_make(struct driver_device *device,
                         tapml_call *call,
                         uint64_t size,
                         VkMemoryPropertyFlags wanted,
                         struct driver_buffer *buffer,
                         char **out_mapped);
void memory_drop(struct driver_device *device, struct driver_buffer *buffer);

// What a command does to a buffer.
struct queue_use {
    struct driver_buffer *buffer;
    int is_written;
};

// The batch to record the next command into, with room for a launch, a read and, where
// `wants_staging`, some bytes.
tapml_status queue_begin(struct driver_device *device,
                         tapml_call *call,
                         int wants_staging,
                         struct batch **out_batch);

// Orders the command that comes next behind those whose buffers it uses: puts a barrier where one
// of them was used since the last barrier in a way that does not go together.
void queue_order(struct driver_device *device,
                 const struct batch *batch,
                 const struct queue_use *uses,
                 uint32_t count);

tapml_status queue_init(struct driver_device *device, tapml_call *call);
void queue_release(struct driver_device *device);
