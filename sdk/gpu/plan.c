// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include "own.h"
#include "queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS_MAX = 256, SUM_ITEMS_MIN = 32 };

struct gpu_queue *gpu_plan_begin(tapml_object *queue)
{
    struct gpu_queue *self = (struct gpu_queue *)queue;

    self->calls++;
    self->half = 0;
    return self;
}

tapml_status gpu_plan_refuse(struct gpu_queue *queue, tapml_call *call, const char *format, ...)
{
    char reason[sizeof(queue->answer->reason)];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof(reason), format, arguments); // Cut where it is too long.
    va_end(arguments);
    if (queue->answer != NULL) {
        queue->answer->grade = TAPML_SUPPORT_NO;
        memcpy(queue->answer->reason, reason, sizeof(reason));
        return TAPML_UNIMPLEMENTED;
    }
    return gpu_fail(&queue->device->root->host, call, TAPML_UNIMPLEMENTED, 0, "%s", reason);
}

const struct gpu_limits *gpu_plan_limits(const struct gpu_queue *queue)
{
    return &queue->device->limits;
}

uint32_t gpu_plan_items(const struct gpu_queue *queue, uint32_t wanted)
{
    const uint32_t limit = queue->device->limits.group_items;
    uint32_t items = 1;

    while (items * 2 <= wanted && items * 2 <= limit && items < ITEMS_MAX) {
        items *= 2;
    }
    return items;
}

uint32_t gpu_plan_sum_items(const struct gpu_queue *queue, uint32_t width, uint32_t most)
{
    uint32_t wanted = SUM_ITEMS_MIN;

    if (queue->device->tile == GPU_TILE_SMALL) {
        return 1;
    }
    if (queue->device->tile == GPU_TILE_LANES) {
        return queue->device->limits.subgroup_max;
    }
    while (wanted < width && wanted < most) {
        wanted *= 2;
    }
    return gpu_plan_items(queue, wanted);
}

// -- Pipelines ---------------------------------------------------------------------------------

// A kernel of the driver's own ops, or of its table, or what takes the place of that.
static const struct k_kernel *
find_kernel(const struct gpu_driver *driver, const struct gpu_plan *plan, uint32_t variant)
{
    const struct k_kernel *table = plan->is_own ? gpu_own_kernels(driver) : driver->kernels;
    const struct k_kernel *replacement =
        plan->is_own ? NULL
                     : gpu_own_find_kernel(gpu_own_replacements(driver), plan->kernel, variant);

    return replacement != NULL ? replacement : gpu_own_find_kernel(table, plan->kernel, variant);
}

// Whether `kernel` takes the place of another.
static int is_replacement(const struct gpu_driver *driver, const struct k_kernel *kernel)
{
    return gpu_own_find_kernel(gpu_own_replacements(driver), kernel->name, kernel->variant) ==
           kernel;
}

// The kernel of a plan, with subgroup operations where the device has them, a workgroup holds whole
// subgroups and the table has such a variant. What takes the place of a kernel does so of that
// variant, too.
static const struct k_kernel *choose_kernel(const struct gpu_device *device,
                                            const struct gpu_plan *plan)
{
    const struct gpu_limits *limits = &device->limits;
    const struct gpu_driver *driver = device->root->driver;
    const struct k_kernel *kernel = find_kernel(driver, plan, plan->variant);

    if (kernel != NULL && (limits->features & GPU_FEATURE_SUBGROUP) != 0) {
        const uint32_t items = plan->tune[0] != 0 ? plan->tune[0] : kernel->tune[0].def;
        const struct k_kernel *better = find_kernel(driver, plan, plan->variant | K_V_SUBGROUP);

        if (better != NULL && items % limits->subgroup_max == 0 &&
            (is_replacement(driver, better) || !is_replacement(driver, kernel))) {
            return better;
        }
    }
    return kernel;
}

int gpu_plan_has(const struct gpu_queue *queue, const char *kernel, uint32_t variant)
{
    const struct gpu_plan plan = {.kernel = kernel, .variant = variant | queue->half};

    return choose_kernel(queue->device, &plan) != NULL;
}

static tapml_status make_pipeline(struct gpu_device *device,
                                  tapml_call *call,
                                  const struct gpu_plan *plan,
                                  const struct gpu_plan_foreign *foreign)
{
    const struct gpu_host *host = &device->root->host;
    const struct k_kernel *kernel = foreign != NULL ? foreign->kernel : choose_kernel(device, plan);
    uint32_t tune[K_TUNE_MAX] = {0};

    if (kernel == NULL) {
        return gpu_fail(host, call, TAPML_INTERNAL, 0, "kernel '%s' has no variant %u",
                        plan->kernel, plan->variant);
    }
    if (device->pipeline_count == GPU_PIPELINE_MAX) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "%u pipelines, no room for one more",
                        device->pipeline_count);
    }
    for (uint32_t i = 0; i < kernel->n_tune; i++) {
        tune[i] = plan->tune[i] != 0 ? plan->tune[i] : kernel->tune[i].def;
    }
    struct gpu_pipeline *pipeline = &device->pipelines[device->pipeline_count];
    const tapml_status status =
        device->root->driver->pipeline_new(device->impl, call, kernel, tune, &pipeline->impl);

    if (status == TAPML_OK) {
        pipeline->name = plan->kernel;
        pipeline->is_own = plan->is_own;
        pipeline->variant = plan->variant;
        memcpy(pipeline->tune, plan->tune, sizeof(plan->tune));
        pipeline->kernel = kernel;
        device->pipeline_count++;
    }
    return status;
}

// The pipeline of a plan, made the first time.
static tapml_status find_pipeline(struct gpu_device *device,
                                  tapml_call *call,
                                  const struct gpu_plan *plan,
                                  const struct gpu_plan_foreign *foreign,
                                  const struct gpu_pipeline **out_pipeline)
{
    for (uint32_t i = 0; i < device->pipeline_count; i++) {
        const struct gpu_pipeline *pipeline = &device->pipelines[i];

        if (pipeline->name == plan->kernel && pipeline->variant == plan->variant &&
            pipeline->is_own == plan->is_own &&
            memcmp(pipeline->tune, plan->tune, sizeof(plan->tune)) == 0) {
            *out_pipeline = pipeline;
            return TAPML_OK;
        }
    }
    const tapml_status status = make_pipeline(device, call, plan, foreign);

    if (status == TAPML_OK) {
        *out_pipeline = &device->pipelines[device->pipeline_count - 1];
    }
    return status;
}

tapml_status
gpu_plan_compile_foreign(struct gpu_device *device, tapml_call *call, const struct k_kernel *kernel)
{
    const struct gpu_plan plan = {.kernel = kernel->name}; // As its launches have it.
    const struct gpu_plan_foreign foreign = {.kernel = kernel};

    return make_pipeline(device, call, &plan, &foreign);
}

void gpu_plan_release(struct gpu_device *device)
{
    for (uint32_t i = 0; i < device->pipeline_count; i++) {
        device->root->driver->pipeline_free(device->impl, device->pipelines[i].impl);
    }
}

// -- Launching ---------------------------------------------------------------------------------

// In synchronous mode, waits, so that a failure is blamed on the call it belongs to.
static tapml_status settle(struct gpu_queue *queue, tapml_call *call)
{
    struct gpu_device *device = queue->device;
    const struct gpu_driver *driver = device->root->driver;
    const uint64_t ticket = ++device->ticket;
    uint64_t reached = 0;
    tapml_status status = driver->signal(device->impl, call, ticket);

    if (status == TAPML_OK) {
        status = driver->flush(device->impl, call);
    }
    if (status == TAPML_OK) {
        status = driver->wait(device->impl, call, ticket, UINT64_MAX, &reached);
    }
    if (status != TAPML_OK) {
        device->failure = status;
        device->root->host.core->blame(call, queue->calls);
    }
    return status;
}

// Launches, as a foreign kernel where `foreign` is not NULL.
static tapml_status queue_launch(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const struct gpu_plan *plan,
                                 const struct gpu_plan_foreign *foreign)
{
    struct gpu_device *device = queue->device;
    struct driver_buffer *buffers[K_BINDING_MAX];
    const struct gpu_pipeline *pipeline = NULL;

    tapml_status status = gpu_device_check(device, call);

    if (status == TAPML_OK) {
        status = gpu_queue_leave_aside(queue, call);
    }
    if (status == TAPML_OK) {
        status = find_pipeline(device, call, plan, foreign, &pipeline);
    }
    if (status != TAPML_OK) {
        return status;
    }
    for (uint32_t i = 0; i < pipeline->kernel->n_binding; i++) {
        const tapml_tensor *tensor = plan->tensors[i];

        buffers[i] = tensor != NULL ? ((struct gpu_buffer *)tensor->buffer)->impl : device->none;
    }
    // As near to a rectangle as it goes: less than one row of groups is idle.
    const uint64_t y = (plan->groups + device->limits.grid - 1) / device->limits.grid;
    const uint64_t x = (plan->groups + y - 1) / y;
    struct gpu_launch launch = {
        .pipeline = pipeline->impl,
        .buffers = buffers,
        .params = plan->params,
        .groups = {(uint32_t)x, (uint32_t)y, plan->groups_z != 0 ? (uint32_t)plan->groups_z : 1},
        .number = queue->calls,
    };

    if (foreign != NULL) {
        memcpy(launch.groups, foreign->groups, sizeof(launch.groups));
        launch.offsets = foreign->offsets;
        launch.arguments = foreign->arguments;
        launch.argument_count = foreign->argument_count;
    }
    status = device->root->driver->launch(device->impl, call, &launch);
    return status == TAPML_OK && device->is_synchronous ? settle(queue, call) : status;
}

tapml_status
gpu_plan_launch_quietly(struct gpu_queue *queue, tapml_call *call, const struct gpu_plan *plan)
{
    return queue_launch(queue, call, plan, NULL);
}

tapml_status gpu_plan_launch_foreign(struct gpu_queue *queue,
                                     tapml_call *call,
                                     const struct gpu_plan *plan,
                                     const struct gpu_plan_foreign *foreign)
{
    if (queue->answer != NULL || plan->groups == 0) {
        return TAPML_OK;
    }
    queue->launches++;
    return queue_launch(queue, call, plan, foreign);
}

tapml_status gpu_plan_launch(struct gpu_queue *queue, tapml_call *call, const struct gpu_plan *plan)
{
    const uint64_t grid = queue->device->limits.grid;

    if (plan->groups_z > grid || plan->groups > grid * grid) {
        return gpu_plan_refuse(queue, call, "%llu x %llu workgroups, more than a grid has",
                               (unsigned long long)plan->groups,
                               (unsigned long long)plan->groups_z);
    }
    struct gpu_plan own = *plan;

    own.variant |= queue->half;
    // A driver may have some of the kernels, or none yet.
    if (queue->answer != NULL && choose_kernel(queue->device, &own) == NULL) {
        return gpu_plan_refuse(queue, call, "the driver has no kernel '%s', variant %u", own.kernel,
                               own.variant);
    }
    if (queue->answer != NULL || plan->groups == 0) {
        return TAPML_OK;
    }
    queue->launches++;
    return queue_launch(queue, call, &own, NULL);
}

tapml_status
gpu_plan_product(struct gpu_queue *queue, tapml_call *call, const struct gpu_product *product)
{
    struct gpu_device *device = queue->device;
    struct gpu_product own = *product;
    tapml_status status = gpu_device_check(device, call);

    own.number = queue->calls;
    if (status == TAPML_OK) {
        status = gpu_queue_leave_aside(queue, call);
    }
    if (status == TAPML_OK) {
        status = device->root->driver->product(device->impl, call, &own);
    }
    if (status != TAPML_OK) {
        return status;
    }
    queue->launches++;
    return device->is_synchronous ? settle(queue, call) : TAPML_OK;
}
