// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "memory.h"
#include "ops.h"
#include "queue.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FORM .hdr = TAPML_HDR(tapml_arithmetic_form)

// A form, its ending of the id, and what activations are rounded to before a product.
static const struct {
    const char *suffix, *name;
    tapml_arithmetic_form arithmetic;
} forms[DEVICE_FORMS] = {
    [DEVICE_ANY] = {"", "", {FORM}},
    [DEVICE_F32] = {"", "", {FORM}},
    [DEVICE_F16] = {"-f16", ", weights in f16", {FORM, .inputs = TAPML_FORMAT_F16}},
    [DEVICE_BF16] = {"-bf16", ", weights in bf16", {FORM, .inputs = TAPML_FORMAT_BF16}},
    [DEVICE_BLOCKS] = {"-q8",
                       ", weights in blocks of 32",
                       {FORM, .inputs = TAPML_FORMAT_Q8_HALF, .block = 32}},
    [DEVICE_SUPER] = {"-q8k",
                      ", weights in blocks of 256",
                      {FORM, .inputs = TAPML_FORMAT_Q8, .block = 256}},
};

// The processor looks GELU up in a table of f16.
static const tapml_arithmetic_form table_form = {FORM, .inputs = TAPML_FORMAT_F16,
                                                 .result = TAPML_FORMAT_F16};

// -- What a device declares --------------------------------------------------------------------

static const tapml_arithmetic_form *form_of(tapml_object *object, const tapml_op *op)
{
    const enum device_form form = object_of(object)->device->kind->form;

    if (form != DEVICE_ANY && strcmp(op->name, "tapml.gelu_tanh") == 0) {
        return &table_form;
    }
    return form > DEVICE_F32 && strcmp(op->name, "tapml.linear") == 0 ? &forms[form].arithmetic
                                                                      : NULL;
}

static const tapml_arithmetic arithmetic = {TAPML_HDR(tapml_arithmetic), form_of};

const void *device_interface(tapml_object *object, const char *id)
{
    struct device *device = object_of(object)->device;

    return device != NULL && &device->object == object_of(object) &&
                   strcmp(id, TAPML_ARITHMETIC) == 0
               ? &arithmetic
               : NULL;
}

// -- Opening one -------------------------------------------------------------------------------

static void device_end(struct object *object)
{
    struct device *device = object->device;
    const struct library *ggml = &object->root->library;

    if (device->allocator != NULL) {
        ggml->gallocr_free(device->allocator);
    }
    if (device->backend != NULL) {
        ggml->backend_free(device->backend);
    }
    object->core->free(object->host, device->context, DEVICE_CONTEXT, MEMORY_ALIGN);
    object->core->free(object->host, device->upload, device->upload_bytes, MEMORY_ALIGN);
    (void)pthread_mutex_destroy(&device->lock);
}

// As many threads as there are processors; the library's own default is four.
static void find_threads(const struct library *ggml, struct device *device)
{
    const ggml_backend_reg_t reg = ggml->backend_dev_backend_reg(device->kind->handle);
    void *found = ggml->backend_reg_get_proc_address(reg, "ggml_backend_set_n_threads");

    memcpy(&device->set_threads, &found, sizeof(found));
    device->threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static tapml_status start(struct device *device, tapml_call *call)
{
    const struct object *own = &device->object;
    const struct library *ggml = &own->root->library;

    device->backend = ggml->backend_dev_init(device->kind->handle, NULL);
    device->memory_type = ggml->backend_dev_buffer_type(device->kind->handle);
    device->allocator = ggml->gallocr_new(device->memory_type);
    device->align = ggml->backend_buft_get_alignment(device->memory_type);
    device->context = own->core->alloc(own->host, DEVICE_CONTEXT, MEMORY_ALIGN);
    if (device->backend == NULL || device->allocator == NULL) {
        return object_fail(own, call, TAPML_UNAVAILABLE, "ggml_backend_dev_init of %s failed",
                           device->kind->id);
    }
    if (device->context == NULL) {
        return object_fail(own, call, TAPML_NO_MEMORY, "out of memory");
    }
    find_threads(ggml, device);
    return TAPML_OK;
}

static tapml_status
open_device(tapml_object *backend, tapml_call *call, const char *id, tapml_object **out_device)
{
    struct root *root = object_of(backend)->root;
    tapml_object *made = NULL;
    uint32_t i = 0;

    while (i < root->count && strcmp(root->kinds[i].id, id) != 0) {
        i++;
    }
    if (i == root->count) {
        return object_fail(&root->object, call, TAPML_NOT_FOUND, "ggml has no device '%s'", id);
    }
    tapml_status status = object_new(&root->object, call, sizeof(struct device), &made);

    if (status != TAPML_OK) {
        return status;
    }
    struct device *device = (struct device *)made;

    device->object.device = device;
    device->object.end = device_end;
    device->kind = &root->kinds[i];
    (void)pthread_mutex_init(&device->lock, NULL);
    status = start(device, call);
    if (status != TAPML_OK) {
        made->vt->release(made);
        return status;
    }
    *out_device = made;
    return TAPML_OK;
}

// -- The list ----------------------------------------------------------------------------------

static tapml_status devices(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count)
{
    const struct root *root = object_of(backend)->root;

    *out_list = root->infos;
    *out_count = root->count;
    return TAPML_OK;
}

static void add(struct root *root, ggml_backend_dev_t handle, enum device_form form)
{
    const struct library *ggml = &root->library;
    struct kind *kind = &root->kinds[root->count];
    const ggml_backend_buffer_type_t type = ggml->backend_dev_buffer_type(handle);
    size_t free_bytes = 0, total_bytes = 0;

    ggml->backend_dev_memory(handle, &free_bytes, &total_bytes);
    kind->handle = handle;
    kind->form = form;
    (void)snprintf(kind->id, DEVICE_TEXT, "%s%s", ggml->backend_dev_name(handle),
                   forms[form].suffix);
    (void)snprintf(kind->name, DEVICE_TEXT, "%s%s", ggml->backend_dev_description(handle),
                   forms[form].name);
    (void)snprintf(kind->driver, DEVICE_TEXT, "ggml %s, %s", ggml->version(),
                   ggml->backend_reg_name(ggml->backend_dev_backend_reg(handle)));
    kind->memory = (tapml_memory_type){
        .hdr = TAPML_HDR(tapml_memory_type),
        .traits = TAPML_MEMORY_DEVICE_LOCAL,
        .size = total_bytes,
        .align = ggml->backend_buft_get_alignment(type),
        .max_bytes = ggml->backend_buft_get_max_size(type) - MEMORY_SLACK_BYTES,
    };
    kind->memories[0] = &kind->memory;
    kind->info = (tapml_device_info){
        .hdr = TAPML_HDR(tapml_device_info),
        .id = kind->id,
        .name = kind->name,
        .driver = kind->driver,
        .traits = TAPML_DEVICE_FILE_BLOCKS,
        .memory_total = total_bytes,
        .memory_free = free_bytes,
        .n_memory_types = 1,
        .memory_types = kind->memories,
    };
    root->infos[root->count++] = &kind->info;
}

static void list(struct root *root, ggml_backend_dev_t handle)
{
    const enum ggml_backend_dev_type type = root->library.backend_dev_type(handle);
    const int is_processor = type == GGML_BACKEND_DEVICE_TYPE_CPU;
    const int last = is_processor ? DEVICE_FORMS - 1 : DEVICE_ANY;

    if (type == GGML_BACKEND_DEVICE_TYPE_ACCEL) {
        return; // What only helps the processor (BLAS) has no memory of its own.
    }
    for (int form = is_processor ? DEVICE_F32 : DEVICE_ANY; form <= last; form++) {
        if (root->count < DEVICE_MAX) {
            add(root, handle, (enum device_form)form);
        }
    }
}

static const tapml_backend device_backend = {
    .hdr = TAPML_HDR(tapml_backend),
    .devices = devices,
    .open = open_device,
    .ops = ops_list,
    .supports = ops_supports,
    .buffer_new = memory_new,
    .queue_new = queue_new,
    .queue_write = memory_write,
    .queue_read = memory_read,
    .queue_copy = memory_copy,
    .queue_fill = memory_fill,
    .queue_signal = queue_signal,
    .timeline_new = queue_timeline_new,
    .timeline_value = queue_timeline_value,
    .timeline_wait = queue_timeline_wait,
};

tapml_status device_root_new(const tapml_host *host, tapml_call *call, tapml_object **out_root)
{
    const struct object seed = {
        .host = host,
        .core = host->interface_of(host, TAPML_HOST_CORE),
        .backend = &device_backend,
    };
    char problem[LIBRARY_PROBLEM] = "";
    tapml_status status = object_new(&seed, call, sizeof(struct root), out_root);

    if (status != TAPML_OK) {
        return status;
    }
    struct root *root = (struct root *)*out_root;

    root->object.root = root;
    if (!library_open(&root->library, problem)) {
        status = object_fail(&seed, call, TAPML_UNAVAILABLE, "%s", problem);
        (*out_root)->vt->release(*out_root);
        return status;
    }
    for (size_t i = 0; i < root->library.backend_dev_count(); i++) {
        list(root, root->library.backend_dev_get(i));
    }
    return TAPML_OK;
}
