// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu_notebook.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the driver's handles are: the notebook, and marks.
struct driver_root {
    struct gpu_notebook *notebook;
};

struct driver_device {
    struct gpu_notebook *notebook;
};

struct driver_buffer {
    uint64_t size;
};

struct driver_pipeline {
    const struct k_kernel *kernel;
    uint32_t tune[K_TUNE_MAX];
};

// -- The driver --------------------------------------------------------------------------------

// The notebook of a root: sdk/gpu knows no user pointer, so that the host carries it.
static tapml_status
load(const struct gpu_host *host, tapml_call *call, struct driver_root **out_root)
{
    struct driver_root *root = gpu_alloc(host, sizeof(*root));

    cr_assert_not_null(root);
    root->notebook = host->host->impl;
    *out_root = root;
    return TAPML_OK;
}

static void unload(struct driver_root *root)
{
    const struct gpu_host host = {&root->notebook->host, &root->notebook->core, "notebook"};

    gpu_free(&host, root, sizeof(*root));
}

static tapml_status describe(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description)
{
    if (index > 0) {
        return TAPML_NOT_FOUND;
    }
    *out_description = (struct gpu_description){.id = "paper",
                                                .name = "Paper",
                                                .memory_bytes = 1 << 20,
                                                .buffer_bytes = 1 << 20,
                                                .bindings = 9,
                                                .align = 64};
    return TAPML_OK;
}

static tapml_status open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device)
{
    *out_limits = root->notebook->limits;
    *out_device = calloc(1, sizeof(**out_device));
    cr_assert_not_null(*out_device);
    (*out_device)->notebook = root->notebook;
    return TAPML_OK;
}

static void close(struct driver_device *device)
{
    free(device);
}

static tapml_status buffer_new(struct driver_device *device,
                               tapml_call *call,
                               uint64_t size,
                               struct driver_buffer **out_buffer)
{
    if (device->notebook->refuses_buffers) {
        return TAPML_NO_MEMORY;
    }
    *out_buffer = calloc(1, sizeof(**out_buffer));
    cr_assert_not_null(*out_buffer);
    (*out_buffer)->size = size;
    return TAPML_OK;
}

static void buffer_free(struct driver_device *device, struct driver_buffer *buffer)
{
    free(buffer);
}

static tapml_status pipeline_new(struct driver_device *device,
                                 tapml_call *call,
                                 const struct k_kernel *kernel,
                                 const uint32_t *tune,
                                 struct driver_pipeline **out_pipeline)
{
    struct gpu_notebook *notes = device->notebook;
    const struct gpu_host host = {&notes->host, &notes->core, "notebook"};

    if (notes->compiler_error != NULL) {
        return gpu_fail(&host, call, TAPML_INTERNAL, 0, "%s", notes->compiler_error);
    }
    struct driver_pipeline *pipeline = calloc(1, sizeof(*pipeline));

    cr_assert_not_null(pipeline);
    pipeline->kernel = kernel;
    memcpy(pipeline->tune, tune, sizeof(pipeline->tune));
    device->notebook->pipeline_count++;
    *out_pipeline = pipeline;
    return TAPML_OK;
}

static void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline)
{
    free(pipeline);
}

static tapml_status
launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch)
{
    struct gpu_notebook *notebook = device->notebook;

    notebook->launch_count++;
    notebook->kernel = launch->pipeline->kernel;
    memcpy(notebook->tune, launch->pipeline->tune, sizeof(notebook->tune));
    memcpy(notebook->groups, launch->groups, sizeof(notebook->groups));
    notebook->number = launch->number;
    notebook->argument_count = launch->argument_count;
    for (uint32_t i = 0; i < launch->argument_count && i < GPU_NOTEBOOK_ARGUMENTS_MAX; i++) {
        notebook->arguments[i] = launch->arguments[i];
    }
    for (uint32_t i = 0; i < notebook->kernel->n_binding; i++) {
        notebook->buffer_bytes[i] = launch->buffers[i]->size;
        notebook->offsets[i] = launch->offsets != NULL ? launch->offsets[i] : 0;
    }
    memcpy(notebook->params, launch->params, notebook->kernel->params_size);
    return TAPML_OK;
}

static int takes_product(struct driver_device *device, const struct gpu_product *product)
{
    return device->notebook->takes_products;
}

static tapml_status
queue_product(struct driver_device *device, tapml_call *call, const struct gpu_product *product)
{
    struct gpu_notebook *notebook = device->notebook;

    cr_assert_lt(notebook->product_count, GPU_NOTEBOOK_PRODUCTS_MAX);
    notebook->products[notebook->product_count++] = *product;
    return TAPML_OK;
}

static tapml_status signal(struct driver_device *device, tapml_call *call, uint64_t ticket)
{
    device->notebook->ticket = ticket;
    return TAPML_OK;
}

static tapml_status flush(struct driver_device *device, tapml_call *call)
{
    return TAPML_OK;
}

static tapml_status wait(struct driver_device *device,
                         tapml_call *call,
                         uint64_t ticket,
                         uint64_t timeout_ns,
                         uint64_t *out_reached)
{
    if (device->notebook->wait_status != TAPML_OK) {
        return device->notebook->wait_status;
    }
    *out_reached = device->notebook->ticket;
    return TAPML_OK;
}

static tapml_status restart(struct driver_device *device, tapml_call *call)
{
    device->notebook->restart_count++;
    return device->notebook->restart_status;
}

static tapml_status
notify(struct driver_device *device, tapml_call *call, uint64_t ticket, struct gpu_notice *notice)
{
    struct gpu_notebook *notebook = device->notebook;

    if (notebook->notify_status == TAPML_OK) {
        cr_assert(ticket <= notebook->ticket && notebook->notice_count < 8);
        notebook->notices[notebook->notice_count++] = notice;
    }
    return notebook->notify_status;
}

extern const struct k_kernel opencl_kernels[];

static struct gpu_driver driver = {
    .id = "notebook",
    .kernels = opencl_kernels,
    .load = load,
    .unload = unload,
    .describe = describe,
    .open = open,
    .close = close,
    .buffer_new = buffer_new,
    .buffer_free = buffer_free,
    .pipeline_new = pipeline_new,
    .pipeline_free = pipeline_free,
    .launch = launch,
    .takes_product = takes_product,
    .product = queue_product,
    .signal = signal,
    .flush = flush,
    .wait = wait,
    .restart = restart,
    .notify = notify,
};

// -- The host ----------------------------------------------------------------------------------

static tapml_status host_fail(tapml_call *call,
                              tapml_status code,
                              int64_t native_code,
                              const char *domain,
                              const char *message,
                              size_t message_bytes)
{
    (void)snprintf(call->message, sizeof(call->message), "%.*s", (int)message_bytes, message);
    return code;
}

static void host_blame(tapml_call *call, uint64_t n)
{
    call->blamed = n;
}

static void *host_alloc(const tapml_host *host, size_t size, size_t align)
{
    struct gpu_notebook *notebook = host->impl;

    notebook->live_bytes += size;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void host_free(const tapml_host *host, void *memory, size_t size, size_t align)
{
    struct gpu_notebook *notebook = host->impl;

    notebook->live_bytes -= memory != NULL ? size : 0;
    free(memory);
}

static const char *host_option(const tapml_host *host, const char *key)
{
    const struct gpu_notebook *notebook = host->impl;

    return notebook->option != NULL && strcmp(key, notebook->option) == 0 ? notebook->value : NULL;
}

static const void *host_interface(const tapml_host *host, const char *id)
{
    const struct gpu_notebook *notebook = host->impl;

    return strcmp(id, TAPML_HOST_CORE) == 0 ? &notebook->core : NULL;
}

tapml_status gpu_notebook_open(struct gpu_notebook *notebook, tapml_call *call)
{
    if (notebook->limits.group_items == 0) {
        notebook->limits =
            (struct gpu_limits){.group_items = 256, .shared_bytes = 16384, .grid = 65535};
    }
    notebook->core = (tapml_host_core){.hdr = TAPML_HDR(tapml_host_core),
                                       .fail = host_fail,
                                       .blame = host_blame,
                                       .alloc = host_alloc,
                                       .free = host_free,
                                       .option = host_option};
    notebook->host = (tapml_host){
        .hdr = TAPML_HDR(tapml_host), .impl = notebook, .interface_of = host_interface};
    driver.passing = notebook->passing;
    driver.code_ending = notebook->code_ending;
    driver.own = notebook->own;
    driver.sources = notebook->sources;
    tapml_status status = gpu_backend_create(&driver, &notebook->host, call, &notebook->root);

    if (status == TAPML_OK) {
        notebook->table = notebook->root->vt->interface_of(notebook->root, TAPML_KIND_BACKEND);
        status = notebook->table->open(notebook->root, call, "paper", &notebook->device);
    }
    if (status == TAPML_OK) {
        status = notebook->table->queue_new(notebook->device, call, &notebook->queue);
    }
    return status;
}

void gpu_notebook_close(struct gpu_notebook *notebook)
{
    tapml_object *const objects[] = {notebook->buffer, notebook->queue, notebook->device,
                                     notebook->root};

    for (int i = 0; i < 4; i++) {
        if (objects[i] != NULL) {
            objects[i]->vt->release(objects[i]);
        }
    }
    cr_assert_eq(notebook->live_bytes, 0, "the host's memory was not given back");
}

tapml_tensor gpu_notebook_tensor(struct gpu_notebook *notebook,
                                 uint32_t dtype,
                                 uint32_t rank,
                                 const int64_t *shape)
{
    tapml_call call = {0};

    if (notebook->buffer == NULL) {
        cr_assert_eq(
            notebook->table->buffer_new(notebook->device, &call, 0, 1 << 20, &notebook->buffer),
            TAPML_OK);
    }
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = dtype,
                          .rank = rank,
                          .shape = shape,
                          .buffer = notebook->buffer};
}
