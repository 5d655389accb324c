// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <string.h>

// Buffers above half a block get memory of their own.
static const uint64_t block_bytes = 32ull << 20;

// -- Pieces of blocks --------------------------------------------------------------------------

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

static struct memory_piece *
new_piece(const struct driver_device *device, uint64_t at, uint64_t size)
{
    struct memory_piece *piece = gpu_alloc(device->root->host, sizeof(*piece));

    if (piece != NULL) {
        piece->at = at;
        piece->size = size;
    }
    return piece;
}

// Cuts what lies behind `size` bytes of `piece` off, as a free piece.
static int cut_piece(const struct driver_device *device, struct memory_piece *piece, uint64_t size)
{
    if (piece->size == size) {
        return 1;
    }
    struct memory_piece *rest = new_piece(device, piece->at + size, piece->size - size);

    if (rest == NULL) {
        return 0;
    }
    rest->next = piece->next;
    piece->next = rest;
    piece->size = size;
    return 1;
}

// Takes `needs` out of a block: the first free piece that holds them. NULL where none does.
static struct memory_piece *take_piece(const struct driver_device *device,
                                       const struct memory_block *block,
                                       const VkMemoryRequirements *needs)
{
    for (struct memory_piece *piece = block->pieces; piece != NULL; piece = piece->next) {
        const uint64_t gap = round_up(piece->at, needs->alignment) - piece->at;

        if (piece->is_taken || piece->size < gap || piece->size - gap < needs->size) {
            continue;
        }
        if (gap > 0 && !cut_piece(device, piece, gap)) {
            return NULL;
        }
        struct memory_piece *taken = gap > 0 ? piece->next : piece;

        if (!cut_piece(device, taken, needs->size)) {
            return NULL;
        }
        taken->is_taken = 1;
        return taken;
    }
    return NULL;
}

// Makes neighbours that are free one piece.
static void join_pieces(const struct driver_device *device, const struct memory_block *block)
{
    struct memory_piece *piece = block->pieces;

    while (piece->next != NULL) {
        struct memory_piece *next = piece->next;

        if (piece->is_taken || next->is_taken) {
            piece = next;
            continue;
        }
        piece->size += next->size;
        piece->next = next->next;
        gpu_free(device->root->host, next, sizeof(*next));
    }
}

// -- Blocks ------------------------------------------------------------------------------------

static void free_block(struct driver_device *device, struct memory_block *block)
{
    struct memory_block **link = &device->blocks;

    while (*link != NULL && *link != block) {
        link = &(*link)->next;
    }
    *link = block->next;
    device->vk.vkFreeMemory(device->device, block->memory, NULL);
    gpu_free(device->root->host, block->pieces, sizeof(*block->pieces)); // All free is one piece.
    gpu_free(device->root->host, block, sizeof(*block));
}

// NULL where there is no memory, which has been said.
static struct memory_block *
new_block(struct driver_device *device, tapml_call *call, uint32_t type, uint64_t size)
{
    const struct gpu_host *host = device->root->host;
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = size,
                                       .memoryTypeIndex = type};
    struct memory_block *block = gpu_alloc(host, sizeof(*block));
    struct memory_piece *piece = new_piece(device, 0, size);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;

    if (block != NULL && piece != NULL) {
        result = device->vk.vkAllocateMemory(device->device, &info, NULL, &block->memory);
    }
    if (block == NULL || piece == NULL || result < 0) {
        gpu_free(host, piece, sizeof(*piece));
        gpu_free(host, block, sizeof(*block));
        (void)gpu_fail(host, call, TAPML_NO_MEMORY, result, "vkAllocateMemory: no memory");
        return NULL;
    }
    block->type = type;
    block->pieces = piece;
    block->next = device->blocks;
    device->blocks = block;
    return block;
}

static uint32_t find_type(const struct driver_device *device,
                          const VkMemoryRequirements *needs,
                          VkMemoryPropertyFlags wanted)
{
    uint32_t type = 0;

    while (type < device->memory.memoryTypeCount &&
           ((needs->memoryTypeBits >> type & 1u) == 0 ||
            (device->memory.memoryTypes[type].propertyFlags & wanted) != wanted)) {
        type++;
    }
    return type;
}

// Finds memory for `buffer`: a piece of a block that is there, or of a new one.
static tapml_status place(struct driver_device *device,
                          tapml_call *call,
                          const VkMemoryRequirements *needs,
                          uint32_t type,
                          int is_alone,
                          struct driver_buffer *buffer)
{
    struct memory_block *block = is_alone ? NULL : device->blocks;
    struct memory_piece *piece = NULL;

    for (; block != NULL; block = block->next) {
        piece = block->type == type ? take_piece(device, block, needs) : NULL;
        if (piece != NULL) {
            break;
        }
    }
    if (piece == NULL) {
        block = new_block(device, call, type, is_alone ? needs->size : block_bytes);
        if (block == NULL) {
            return TAPML_NO_MEMORY;
        }
        piece = take_piece(device, block, needs);
    }
    if (piece == NULL) {
        free_block(device, block);
        (void)gpu_fail(device->root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
        return TAPML_NO_MEMORY;
    }
    buffer->block = block;
    buffer->piece = piece;
    return TAPML_OK;
}

// -- Buffers -----------------------------------------------------------------------------------

tapml_status memory_make(struct driver_device *device,
                         tapml_call *call,
                         uint64_t size,
                         VkMemoryPropertyFlags wanted,
                         struct driver_buffer *buffer,
                         char **out_mapped)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkMemoryRequirements needs;
    void *mapped = NULL;

    DRIVER_TRY(device, call,
               device->vk.vkCreateBuffer(device->device, &info, NULL, &buffer->buffer));
    device->vk.vkGetBufferMemoryRequirements(device->device, buffer->buffer, &needs);
    const uint32_t type = find_type(device, &needs, wanted);

    if (type == device->memory.memoryTypeCount || needs.size > device->traits.allocation_bytes) {
        return gpu_fail(device->root->host, call, TAPML_NO_MEMORY, 0,
                        "no memory of a suitable kind for a buffer of %llu bytes",
                        (unsigned long long)size);
    }
    const int is_alone = out_mapped != NULL || needs.size > block_bytes / 2;
    const tapml_status status = place(device, call, &needs, type, is_alone, buffer);

    if (status != TAPML_OK) {
        return status;
    }
    DRIVER_TRY(device, call,
               device->vk.vkBindBufferMemory(device->device, buffer->buffer, buffer->block->memory,
                                             buffer->piece->at));
    if (out_mapped != NULL) {
        DRIVER_TRY(device, call,
                   device->vk.vkMapMemory(device->device, buffer->block->memory, 0, VK_WHOLE_SIZE,
                                          0, &mapped));
        *out_mapped = mapped;
    }
    return TAPML_OK;
}

void memory_drop(struct driver_device *device, struct driver_buffer *buffer)
{
    device->vk.vkDestroyBuffer(device->device, buffer->buffer, NULL); // VK_NULL_HANDLE is allowed.
    if (buffer->piece != NULL) {
        buffer->piece->is_taken = 0;
        join_pieces(device, buffer->block);
        if (!buffer->block->pieces->is_taken && buffer->block->pieces->next == NULL) {
            free_block(device, buffer->block);
        }
    }
}

void memory_free(struct driver_device *device, struct driver_buffer *buffer)
{
    memory_drop(device, buffer);
    gpu_free(device->root->host, buffer, sizeof(*buffer));
}

tapml_status memory_new(struct driver_device *device,
                        tapml_call *call,
                        uint64_t size,
                        struct driver_buffer **out_buffer)
{
    struct driver_buffer *buffer = gpu_alloc(device->root->host, sizeof(*buffer));

    if (buffer == NULL) {
        return gpu_fail(device->root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    const tapml_status status =
        memory_make(device, call, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, buffer, NULL);

    if (status != TAPML_OK) {
        memory_free(device, buffer);
        return status;
    }
    *out_buffer = buffer;
    return TAPML_OK;
}

// -- Transfers ---------------------------------------------------------------------------------

static uint64_t room_for(const struct batch *batch, uint64_t wanted)
{
    const uint64_t room = DRIVER_STAGING_BYTES - batch->staged;

    return wanted < room ? wanted : room;
}

tapml_status memory_write(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        struct batch *batch = NULL;
        const tapml_status status = queue_begin(device, call, 1, &batch);

        if (status != TAPML_OK) {
            return status;
        }
        const uint64_t part = room_for(batch, size - done);
        const VkBufferCopy region = {batch->staged, offset + done, part};
        const struct queue_use use = {buffer, 1};

        memcpy(batch->mapped + batch->staged, (const char *)source + done, (size_t)part);
        queue_order(device, batch, &use, 1);
        device->vk.vkCmdCopyBuffer(batch->commands, batch->staging.buffer, buffer->buffer, 1,
                                   &region);
        batch->staged += part;
        done += part;
    }
    return TAPML_OK;
}

tapml_status memory_read(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        struct batch *batch = NULL;
        const tapml_status status = queue_begin(device, call, 1, &batch);

        if (status != TAPML_OK) {
            return status;
        }
        const uint64_t part = room_for(batch, size - done);
        const VkBufferCopy region = {offset + done, batch->staged, part};
        const struct queue_use use = {buffer, 0};

        queue_order(device, batch, &use, 1);
        device->vk.vkCmdCopyBuffer(batch->commands, buffer->buffer, batch->staging.buffer, 1,
                                   &region);
        batch->reads[batch->read_count++] =
            (struct batch_read){(char *)target + done, batch->staged, part};
        batch->staged += part;
        done += part;
    }
    return TAPML_OK;
}

tapml_status memory_copy(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *source,
                         uint64_t source_offset,
                         struct driver_buffer *target,
                         uint64_t target_offset,
                         uint64_t size)
{
    const VkBufferCopy region = {source_offset, target_offset, size};
    const struct queue_use uses[] = {{source, 0}, {target, 1}};
    struct batch *batch = NULL;
    const tapml_status status = queue_begin(device, call, 0, &batch);

    if (status == TAPML_OK && size > 0) {
        queue_order(device, batch, uses, 2);
        device->vk.vkCmdCopyBuffer(batch->commands, source->buffer, target->buffer, 1, &region);
    }
    return status;
}
