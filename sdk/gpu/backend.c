// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "buffers.h"
#include "foreign.h"
#include "identity.h"
#include "ops.h"
#include "own.h"
#include "products.h"
#include "queue.h"
#include "tuning.h"

#include <tapml/gpu/backend.h>

#include <string.h>

// Elements of two bytes are counted in 32 bits.
static const uint64_t index_bytes_max = 2ull * UINT32_MAX;

// -- Objects -----------------------------------------------------------------------------------

static void root_release(tapml_object *object)
{
    struct gpu_root *root = (struct gpu_root *)object;
    const struct gpu_host host = root->host;

    root->driver->unload(root->impl);
    gpu_ops_destroy(root);
    gpu_free(&host, root->listing, sizeof(*root->listing));
    gpu_free(&host, root, sizeof(*root));
}

static void device_release(tapml_object *object)
{
    struct gpu_device *device = (struct gpu_device *)object;
    const struct gpu_driver *driver = device->root->driver;

    gpu_plan_release(device);
    gpu_foreign_close(device, device->foreign);
    gpu_products_release(device);
    gpu_tuning_release(device);
    if (device->none != NULL) {
        driver->buffer_free(device->impl, device->none);
    }
    driver->close(device->impl);
    gpu_free(&device->root->host, device, sizeof(*device));
}

static const void *device_interface(tapml_object *object, const char *id)
{
    struct gpu_device *device = (struct gpu_device *)object;

    if (strcmp(id, TAPML_LIMITS) == 0) {
        return &device->reported;
    }
    if (strcmp(id, TAPML_MEMORY_HANDLES) == 0) {
        return gpu_buffer_handles(device);
    }
    if (strcmp(id, TAPML_TUNING) == 0) {
        return gpu_tuning(device);
    }
    return strcmp(id, TAPML_IDENTITY) == 0 ? gpu_identity(device) : NULL;
}

static const tapml_object_vt device_vt = {TAPML_HDR(tapml_object_vt), device_release,
                                          device_interface};

// -- Devices -----------------------------------------------------------------------------------

static void list_device(struct gpu_listing *listing, uint32_t i)
{
    const struct gpu_description *description = &listing->description[i];

    listing->memory[i] = (tapml_memory_type){
        .hdr = TAPML_HDR(tapml_memory_type),
        .traits = TAPML_MEMORY_DEVICE_LOCAL,
        .size = description->memory_bytes,
        .align = GPU_BUFFER_GRAIN,
        .max_bytes = description->buffer_bytes < index_bytes_max ? description->buffer_bytes
                                                                 : index_bytes_max,
    };
    listing->memory_list[i] = &listing->memory[i];
    listing->info[i] = (tapml_device_info){
        .hdr = TAPML_HDR(tapml_device_info),
        .id = description->id,
        .name = description->name,
        .driver = description->driver,
        .traits = TAPML_DEVICE_TILES,
        .memory_total = description->memory_bytes,
        .n_memory_types = 1,
        .memory_types = &listing->memory_list[i],
    };
    listing->list[i] = &listing->info[i];
}

// Describes the devices, once: a host asks again when it opens one.
static tapml_status make_listing(struct gpu_root *root, tapml_call *call)
{
    tapml_status status = TAPML_OK;

    if (root->listing != NULL) {
        return TAPML_OK;
    }
    struct gpu_listing *listing = gpu_alloc(&root->host, sizeof(*listing));

    if (listing == NULL) {
        return gpu_no_memory(&root->host, call);
    }
    while (listing->count < GPU_DEVICE_MAX) {
        const uint32_t i = listing->count;

        status = root->driver->describe(root->impl, call, i, &listing->description[i]);
        if (status != TAPML_OK) {
            break;
        }
        list_device(listing, i);
        listing->count++;
    }
    if (status != TAPML_OK && status != TAPML_NOT_FOUND) {
        gpu_free(&root->host, listing, sizeof(*listing));
        return status;
    }
    root->listing = listing;
    return TAPML_OK;
}

static tapml_status devices(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count)
{
    struct gpu_root *root = (struct gpu_root *)backend;
    const tapml_status status = make_listing(root, call);

    if (status == TAPML_OK) {
        *out_list = root->listing->list;
        *out_count = root->listing->count;
    }
    return status;
}

// Reads the options that are not the driver's.
static tapml_status read_options(struct gpu_device *device, tapml_call *call)
{
    static const char *const tiles[] = {"auto", "small", "lanes", "large"}; // As enum gpu_tile.
    static const char *const switches[] = {"0", "1"};
    const struct gpu_host *host = &device->root->host;
    uint32_t tile = GPU_TILE_AUTO, is_synchronous = 0;
    tapml_status status = gpu_option(host, call, "tile", tiles, 4, &tile);

    if (status == TAPML_OK) {
        status = gpu_option(host, call, "synchronous", switches, 2, &is_synchronous);
    }
    device->tile = (enum gpu_tile)tile;
    device->is_synchronous = is_synchronous != 0;
    return status;
}

// Decides how work is cut, unless an option says so. Where the items of a group run one after
// another, a subgroup is the vector of a CPU.
static tapml_status choose_tile(struct gpu_device *device, tapml_call *call)
{
    const struct gpu_limits *limits = &device->limits;
    const int has_lanes = (limits->features & GPU_FEATURE_SUBGROUP) != 0 &&
                          limits->subgroup_min == limits->subgroup_max;

    if (device->tile == GPU_TILE_AUTO) {
        device->tile = (limits->features & GPU_FEATURE_SERIAL) == 0 ? GPU_TILE_LARGE
                       : has_lanes                                  ? GPU_TILE_LANES
                                                                    : GPU_TILE_SMALL;
    }
    if (device->tile == GPU_TILE_LANES && !has_lanes) {
        return gpu_fail(&device->root->host, call, TAPML_INVALID, 0,
                        "option 'tile' is 'lanes', but the device's subgroups have no fixed size");
    }
    return TAPML_OK;
}

static tapml_limits report_limits(const struct gpu_description *description,
                                  const struct gpu_limits *limits)
{
    return (tapml_limits){
        .hdr = TAPML_HDR(tapml_limits),
        .bindings = description->bindings,
        .align = description->align,
        .group_items = limits->group_items,
        .shared_bytes = limits->shared_bytes,
        .grid = limits->grid,
        .half = (limits->features & GPU_FEATURE_F16) != 0 ? TAPML_LIMITS_HALF_STORAGE
                                                          : TAPML_LIMITS_HALF_NONE,
    };
}

static tapml_status
open_index(struct gpu_root *root, tapml_call *call, uint32_t index, tapml_object **out_device)
{
    struct gpu_device *device = gpu_alloc(&root->host, sizeof(*device));

    if (device == NULL) {
        return gpu_no_memory(&root->host, call);
    }
    device->base.vt = &device_vt;
    device->root = root;
    tapml_status status = read_options(device, call);

    if (status == TAPML_OK) {
        status = root->driver->open(root->impl, call, index, &device->limits, &device->impl);
    }
    if (status != TAPML_OK) {
        gpu_free(&root->host, device, sizeof(*device));
        return status;
    }
    device->import_grain = root->listing->description[index].import_grain;
    device->reported = report_limits(&root->listing->description[index], &device->limits);
    status = choose_tile(device, call);
    if (status == TAPML_OK) {
        status = root->driver->buffer_new(device->impl, call, GPU_BUFFER_GRAIN, &device->none);
    }
    if (status == TAPML_OK) {
        status = gpu_foreign_open(device, call, &device->foreign);
    }
    if (status != TAPML_OK) {
        device_release(&device->base);
        return status;
    }
    *out_device = &device->base;
    return TAPML_OK;
}

static tapml_status
open(tapml_object *backend, tapml_call *call, const char *device_id, tapml_object **out_device)
{
    struct gpu_root *root = (struct gpu_root *)backend;
    const tapml_status status = make_listing(root, call);

    if (status != TAPML_OK) {
        return status;
    }
    for (uint32_t i = 0; i < root->listing->count; i++) {
        if (strcmp(root->listing->description[i].id, device_id) == 0) {
            return open_index(root, call, i, out_device);
        }
    }
    return gpu_fail(&root->host, call, TAPML_NOT_FOUND, 0, "no device '%s'", device_id);
}

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    const struct gpu_device *self = (const struct gpu_device *)device;

    if (self->foreign != NULL) {
        *out_list = gpu_foreign_list(self->foreign, out_count);
    } else {
        *out_list = self->root->ops;
        *out_count = self->root->op_count;
    }
    return TAPML_OK;
}

// Runs the op itself on a dry queue: the same checks, written once.
static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    struct gpu_queue dry = {.device = (struct gpu_device *)device, .answer = answer};
    const struct gpu_root *root = dry.device->root;
    const struct gpu_foreign *foreign = dry.device->foreign;
    const tapml_op_impl *impl =
        foreign != NULL ? gpu_foreign_find(foreign, op) : gpu_ops_find(root, op);

    answer->grade = TAPML_SUPPORT_YES;
    if (impl == NULL || n_args != impl->op->n_params) {
        (void)gpu_plan_refuse(&dry, call, "no kernel for '%s' version %u", op->name, op->version);
        return TAPML_OK;
    }
    const tapml_status status = gpu_ops_apply(root, impl, &dry.base, call, args);

    if (status == TAPML_UNIMPLEMENTED && answer->grade != TAPML_SUPPORT_NO) {
        (void)gpu_plan_refuse(&dry, call, "the driver has '%s' and does not call it", op->name);
    }
    return answer->grade == TAPML_SUPPORT_NO ? TAPML_OK : status;
}

// -- The table ---------------------------------------------------------------------------------

static const tapml_backend table = {
    .hdr = TAPML_HDR(tapml_backend),
    .devices = devices,
    .open = open,
    .ops = ops,
    .supports = supports,
    .buffer_new = gpu_buffer_new,
    .queue_new = gpu_queue_new,
    .queue_write = gpu_queue_write,
    .queue_read = gpu_queue_read,
    .queue_copy = gpu_queue_copy,
    .queue_fill = gpu_queue_fill,
    .queue_signal = gpu_queue_signal,
    .queue_flush = gpu_queue_flush,
    .timeline_new = gpu_timeline_new,
    .timeline_value = gpu_timeline_value,
    .timeline_wait = gpu_timeline_wait,
    .queue_wait = gpu_queue_wait,
    .timeline_notify = gpu_timeline_notify,
};

static const void *root_interface(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_BACKEND) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), root_release, root_interface};

static struct gpu_host own_host(const struct gpu_driver *driver, const tapml_host *host)
{
    return (struct gpu_host){host, host->interface_of(host, TAPML_HOST_CORE), driver->id};
}

tapml_status
gpu_backend_probe(const struct gpu_driver *driver, const tapml_host *host, tapml_call *call)
{
    const struct gpu_host own = own_host(driver, host);
    struct driver_root *impl = NULL;
    tapml_status status = gpu_own_check(driver, &own, call);

    if (status == TAPML_OK) {
        status = driver->load(&own, call, &impl);
    }
    if (status == TAPML_OK) {
        driver->unload(impl);
    }
    return status;
}

tapml_status gpu_backend_create(const struct gpu_driver *driver,
                                const tapml_host *host,
                                tapml_call *call,
                                tapml_object **out_root)
{
    const struct gpu_host own = own_host(driver, host);
    struct gpu_root *root = gpu_alloc(&own, sizeof(*root));

    if (root == NULL) {
        return gpu_no_memory(&own, call);
    }
    root->base.vt = &root_vt;
    root->driver = driver;
    root->host = own;
    tapml_status status = gpu_own_check(driver, &own, call);

    if (status == TAPML_OK) {
        status = gpu_ops_create(root, call);
    }
    if (status == TAPML_OK) {
        status = driver->load(&root->host, call, &root->impl);
    }
    if (status != TAPML_OK) {
        gpu_ops_destroy(root);
        gpu_free(&own, root, sizeof(*root));
        return status;
    }
    *out_root = &root->base;
    return TAPML_OK;
}
