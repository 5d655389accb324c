// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <string.h>

// Keeps a result that nothing follows: what was queued is lost with it.
static tapml_status
keep_failure(struct driver_device *device, tapml_call *call, VkResult result, const char *what)
{
    if (result < 0) {
        device->failure = result;
    }
    return driver_check(device->root->host, call, result, what);
}

static tapml_status check_device(const struct driver_device *device, tapml_call *call)
{
    return driver_check(device->root->host, call, device->failure, "earlier work");
}

// -- Batches -----------------------------------------------------------------------------------

static tapml_status init_batch(struct driver_device *device, tapml_call *call, struct batch *batch)
{
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->commands,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       DRIVER_SET_MAX * K_BINDING_MAX};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = DRIVER_SET_MAX,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    const tapml_status status =
        memory_make(device, call, DRIVER_STAGING_BYTES,
                    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                    &batch->staging, &batch->mapped);

    if (status != TAPML_OK) {
        return status;
    }
    DRIVER_TRY(device, call,
               device->vk.vkCreateDescriptorPool(device->device, &pool, NULL, &batch->pool));
    DRIVER_TRY(device, call,
               device->vk.vkAllocateCommandBuffers(device->device, &commands, &batch->commands));
    return TAPML_OK;
}

tapml_status queue_init(struct driver_device *device, tapml_call *call)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};

    DRIVER_TRY(device, call,
               device->vk.vkCreateSemaphore(device->device, &info, NULL, &device->timeline));
    for (uint32_t i = 0; i < DRIVER_BATCH_COUNT; i++) {
        const tapml_status status = init_batch(device, call, &device->batches[i]);

        if (status != TAPML_OK) {
            return status;
        }
    }
    return TAPML_OK;
}

void queue_release(struct driver_device *device)
{
    for (uint32_t i = 0; i < DRIVER_BATCH_COUNT; i++) { // VK_NULL_HANDLE is allowed.
        device->vk.vkDestroyDescriptorPool(device->device, device->batches[i].pool, NULL);
        memory_drop(device, &device->batches[i].staging);
    }
    device->vk.vkDestroySemaphore(device->device, device->timeline, NULL);
}

// Takes back the batches up to `serial`, which is done: what they have read goes where it belongs.
static void retire(struct driver_device *device, uint64_t serial)
{
    for (uint32_t i = 0; i < DRIVER_BATCH_COUNT; i++) { // Oldest first.
        struct batch *batch = &device->batches[(device->current + i) % DRIVER_BATCH_COUNT];

        if (batch->serial == 0 || batch->serial > serial) {
            continue;
        }
        for (uint32_t r = 0; r < batch->read_count; r++) {
            const struct batch_read *read = &batch->reads[r];

            memcpy(read->target, batch->mapped + read->at, (size_t)read->size);
        }
        batch->serial = 0;
        device->reached = batch->ticket;
    }
}

// Waits until the batch with `serial` is done, or the time has passed.
static tapml_status
await(struct driver_device *device, tapml_call *call, uint64_t serial, uint64_t timeout_ns)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &device->timeline,
                                      .pValues = &serial};
    uint64_t done = 0;
    VkResult result = device->vk.vkWaitSemaphores(device->device, &info, timeout_ns);

    if (result >= 0) {
        result = device->vk.vkGetSemaphoreCounterValue(device->device, device->timeline, &done);
    }
    if (result < 0) {
        return keep_failure(device, call, result, "vkWaitSemaphores");
    }
    retire(device, done);
    return driver_complaint(device->root, call);
}

static void put_barrier(struct driver_device *device,
                        const struct batch *batch,
                        VkPipelineStageFlags stages,
                        VkAccessFlags access)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = access,
    };

    device->vk.vkCmdPipelineBarrier(
        batch->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        stages, 0, 1, &memory, 0, NULL, 0, NULL);
}

// Submits the current batch. The next one in turn becomes current, closed.
static tapml_status submit(struct driver_device *device, tapml_call *call)
{
    struct batch *batch = &device->batches[device->current];
    const uint64_t serial = device->serial + 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &serial,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = 1,
        .pCommandBuffers = &batch->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &device->timeline,
    };

    if (batch->read_count > 0) {
        put_barrier(device, batch, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    }
    VkResult result = device->vk.vkEndCommandBuffer(batch->commands);

    batch->is_open = 0;
    if (result >= 0) {
        result = device->vk.vkQueueSubmit(device->queue, 1, &info, VK_NULL_HANDLE);
    }
    if (result < 0) {
        return keep_failure(device, call, result, "vkQueueSubmit");
    }
    device->serial = serial;
    batch->serial = serial;
    batch->ticket = device->ticket;
    device->current = (device->current + 1) % DRIVER_BATCH_COUNT;
    return TAPML_OK;
}

static tapml_status open_batch(struct driver_device *device, tapml_call *call, struct batch *batch)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};

    if (batch->serial != 0) {
        const tapml_status status = await(device, call, batch->serial, UINT64_MAX);

        if (status != TAPML_OK) {
            return status;
        }
    }
    DRIVER_TRY(device, call, device->vk.vkResetDescriptorPool(device->device, batch->pool, 0));
    DRIVER_TRY(device, call, device->vk.vkBeginCommandBuffer(batch->commands, &info));
    batch->is_open = 1;
    batch->set_count = batch->read_count = 0;
    batch->staged = 0;
    return TAPML_OK;
}

tapml_status queue_begin(struct driver_device *device,
                         tapml_call *call,
                         int wants_staging,
                         struct batch **out_batch)
{
    const struct batch *open = &device->batches[device->current];
    tapml_status status = check_device(device, call);

    if (status == TAPML_OK && open->is_open &&
        (open->set_count == DRIVER_SET_MAX || open->read_count == DRIVER_READ_MAX ||
         (wants_staging && open->staged == DRIVER_STAGING_BYTES))) {
        status = submit(device, call);
    }
    struct batch *batch = &device->batches[device->current];

    if (status == TAPML_OK && !batch->is_open) {
        status = open_batch(device, call, batch);
    }
    if (status == TAPML_OK) {
        *out_batch = batch;
    }
    return status;
}

void queue_order(struct driver_device *device,
                 const struct batch *batch,
                 const struct queue_use *uses,
                 uint32_t count)
{
    int is_late = 0; // Behind something in the same span.

    for (uint32_t i = 0; i < count; i++) {
        const struct driver_buffer *buffer = uses[i].buffer;

        is_late = is_late || buffer->write_epoch == device->epoch ||
                  (uses[i].is_written && buffer->read_epoch == device->epoch);
    }
    if (is_late) {
        put_barrier(device, batch,
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                        VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        device->epoch++;
    }
    for (uint32_t i = 0; i < count; i++) {
        *(uses[i].is_written ? &uses[i].buffer->write_epoch : &uses[i].buffer->read_epoch) =
            device->epoch;
    }
}

// -- Launches ----------------------------------------------------------------------------------

static tapml_status make_set(struct driver_device *device,
                             tapml_call *call,
                             struct batch *batch,
                             const struct gpu_launch *launch,
                             VkDescriptorSet *out_set)
{
    const struct k_kernel *kernel = launch->pipeline->kernel;
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = batch->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &launch->pipeline->set,
    };
    VkDescriptorBufferInfo buffers[K_BINDING_MAX];
    VkWriteDescriptorSet writes[K_BINDING_MAX];

    DRIVER_TRY(device, call, device->vk.vkAllocateDescriptorSets(device->device, &info, out_set));
    batch->set_count++;
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        buffers[i] = (VkDescriptorBufferInfo){launch->buffers[i]->buffer,
                                              launch->offsets != NULL ? launch->offsets[i] : 0,
                                              VK_WHOLE_SIZE};
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = *out_set,
            .dstBinding = kernel->binding[i].index,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i],
        };
    }
    device->vk.vkUpdateDescriptorSets(device->device, kernel->n_binding, writes, 0, NULL);
    return TAPML_OK;
}

tapml_status
queue_launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch)
{
    const struct driver_pipeline *pipeline = launch->pipeline;
    const struct k_kernel *kernel = pipeline->kernel;
    struct queue_use uses[K_BINDING_MAX];
    VkDescriptorSet set = VK_NULL_HANDLE;
    struct batch *batch = NULL;
    tapml_status status = queue_begin(device, call, 0, &batch);

    if (status == TAPML_OK) {
        status = make_set(device, call, batch, launch, &set);
    }
    if (status != TAPML_OK) {
        return status;
    }
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        uses[i] = (struct queue_use){launch->buffers[i], kernel->binding[i].access != K_ACCESS_IN};
    }
    queue_order(device, batch, uses, kernel->n_binding);
    device->vk.vkCmdBindPipeline(batch->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                 pipeline->pipeline);
    device->vk.vkCmdBindDescriptorSets(batch->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                       pipeline->layout, 0, 1, &set, 0, NULL);
    device->vk.vkCmdPushConstants(batch->commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                  kernel->params_size, launch->params);
    device->vk.vkCmdDispatch(batch->commands, launch->groups[0], launch->groups[1],
                             launch->groups[2]);
    return TAPML_OK;
}

// -- Tickets -----------------------------------------------------------------------------------

// A ticket is reached with the batch that is current now, at the latest.
tapml_status queue_signal(struct driver_device *device, tapml_call *call, uint64_t ticket)
{
    struct batch *batch = NULL;

    device->ticket = ticket;
    return queue_begin(device, call, 0, &batch); // So that a flush has something to submit.
}

tapml_status queue_flush(struct driver_device *device, tapml_call *call)
{
    const tapml_status status = check_device(device, call);

    return status == TAPML_OK && device->batches[device->current].is_open ? submit(device, call)
                                                                          : status;
}

tapml_status queue_wait(struct driver_device *device,
                        tapml_call *call,
                        uint64_t ticket,
                        uint64_t timeout_ns,
                        uint64_t *out_reached)
{
    tapml_status status = check_device(device, call);

    for (uint32_t i = 0; i < DRIVER_BATCH_COUNT && device->reached < ticket; i++) {
        const struct batch *batch = &device->batches[(device->current + i) % DRIVER_BATCH_COUNT];

        if (status == TAPML_OK && batch->serial != 0 && batch->ticket >= ticket) {
            status = await(device, call, batch->serial, timeout_ns);
            break;
        }
    }
    if (status == TAPML_OK) {
        *out_reached = device->reached;
    }
    return status;
}
