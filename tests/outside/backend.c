// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A complete backend plugin in one file: four ops, one of them its own, and two components.
// `outside` works on ordinary memory, with sums in double or in float; `outside-target` plays
// another device: it keeps its memory to itself and adds up from the other end.
//
// The macros that begin with SPOIL make it wrong in one way each, for the test that builds it.
#ifdef SPOIL_SYMBOL
#define tapml_plugin_query_v1 tapml_plugin_query_v0
#endif

#include OUTSIDE_OPS

#include <tapml/backend.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include OUTSIDE_NOTE

enum order { SUM_DOUBLE, SUM_FLOAT, SUM_REVERSED };

// A backend, device, queue, buffer or timeline. One struct is enough where work is done at once.
struct object {
    tapml_object base; // First, so that a `tapml_object *` is a `struct object *`.
    const tapml_host *host;
    const tapml_host_core *core;
    int is_target;       // Of the component `outside-target`.
    enum order order;    // A device's and its queues'.
    size_t size;         // Of this allocation.
    unsigned char *data; // A buffer's: behind this struct, or wrapped.
    uint64_t reached;    // A timeline's.
};

enum { ALIGN = 64, HEADER = (sizeof(struct object) + ALIGN - 1) / ALIGN * ALIGN };

static const tapml_object_vt object_vt;

static struct object *own(tapml_object *object)
{
    return (struct object *)object;
}

static tapml_status
fail(const struct object *object, tapml_call *call, tapml_status code, const char *message)
{
    return object->core->fail(call, code, 0, "outside", message, strlen(message));
}

// Makes an object of the same component and order as `parent`, with `extra` bytes behind it.
static tapml_status
object_new(const struct object *parent, tapml_call *call, uint64_t extra, tapml_object **out)
{
    const size_t size = extra < SIZE_MAX - HEADER ? HEADER + (size_t)extra : SIZE_MAX;
    struct object *object = parent->core->alloc(parent->host, size, ALIGN);
    if (object == NULL) {
        return fail(parent, call, TAPML_NO_MEMORY, "out of memory");
    }
    *object = *parent;
    object->base.vt = &object_vt;
    object->size = size;
    object->data = (unsigned char *)object + HEADER;
    object->reached = 0;
    *out = &object->base;
    return TAPML_OK;
}

static void object_release(tapml_object *object)
{
    own(object)->core->free(own(object)->host, object, own(object)->size, ALIGN);
}

// -- Ops ---------------------------------------------------------------------------------------

// The rows of a tensor of one or two axes.
static int64_t row_count(const tapml_tensor *tensor)
{
    return tensor->rank == 2 ? tensor->shape[0] : 1;
}

static int64_t width_of(const tapml_tensor *tensor)
{
    return tensor->shape[tensor->rank - 1];
}

static float *row_at(const tapml_tensor *tensor, int64_t row)
{
    const int64_t stride = tensor->stride != NULL ? tensor->stride[0] : width_of(tensor);
    float *first = (float *)(void *)(own(tensor->buffer)->data + tensor->offset);
    return first + (tensor->rank == 2 ? row * stride : 0);
}

static int32_t integer_at(const tapml_tensor *tensor, int64_t index)
{
    return ((const int32_t *)(const void *)(own(tensor->buffer)->data + tensor->offset))[index];
}

static void copy_row(const tapml_tensor *to, int64_t to_row, const tapml_tensor *from, int64_t row)
{
    memcpy(row_at(to, to_row), row_at(from, row), (size_t)width_of(to) * sizeof(float));
}

static tapml_status embed(TAPML_EMBED_PARAMS)
{
    for (int64_t t = 0; t < ids->shape[0]; ++t) {
        copy_row(y, t, table, integer_at(ids, t) + offset);
    }
    return TAPML_OK;
}

static tapml_status gather_rows(TAPML_GATHER_ROWS_PARAMS)
{
    for (int64_t r = 0; r < rows->shape[0]; ++r) {
        copy_row(y, r, x, integer_at(rows, r));
    }
    return TAPML_OK;
}

static float dot(enum order order, const float *a, const float *b, int64_t count)
{
    double sum_f64 = 0.0;
    float sum_f32 = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t k = order == SUM_REVERSED ? count - 1 - i : i;
        sum_f64 += (double)a[k] * (double)b[k];
        sum_f32 += a[k] * b[k];
    }
    return order == SUM_DOUBLE ? (float)sum_f64 : sum_f32;
}

static tapml_status linear(TAPML_LINEAR_PARAMS)
{
    for (int64_t r = 0; r < row_count(x); ++r) {
        for (int64_t n = 0; n < w->shape[0]; ++n) {
            const float bias = b != NULL ? row_at(b, 0)[n] : 0.0f;
            row_at(y, r)[n] =
                dot(own(queue)->order, row_at(x, r), row_at(w, n), width_of(x)) + bias;
        }
    }
    return TAPML_OK;
}

static tapml_status scale(ORG_EXAMPLE_SCALE_PARAMS)
{
    const int is_double = own(queue)->order == SUM_DOUBLE;
    for (int64_t r = 0; r < row_count(x); ++r) {
        for (int64_t i = 0; i < width_of(x); ++i) {
            const float value = row_at(x, r)[i];
            row_at(y, r)[i] = is_double ? (float)(factor * (double)value) : (float)factor * value;
        }
    }
#ifdef SPOIL_RESULT
    if (own(queue)->is_target) {
        row_at(y, 0)[width_of(y) - 1] *= 1.001f; // A tail that is wrong.
    }
#endif
    return TAPML_OK;
}

static const tapml_op_impl embed_impl = TAPML_IMPL(tapml_embed, embed);
static const tapml_op_impl gather_rows_impl = TAPML_IMPL(tapml_gather_rows, gather_rows);
static const tapml_op_impl linear_impl = TAPML_IMPL(tapml_linear, linear);
static const tapml_op_impl scale_impl = TAPML_IMPL(org_example_scale, scale);
static const tapml_op_impl *const impls[] = {&embed_impl, &gather_rows_impl, &linear_impl,
                                             &scale_impl};

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    *out_list = impls;
    *out_count = sizeof(impls) / sizeof(*impls);
    return TAPML_OK;
}

static int is_plain(const tapml_tensor *tensor)
{
    return (tensor->dtype == TAPML_F32 || tensor->dtype == TAPML_I32) && tensor->encoding == NULL &&
           tensor->rank >= 1 && tensor->rank <= 2;
}

static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    answer->grade = TAPML_SUPPORT_YES;
    for (uint32_t i = 0; i < n_args; ++i) {
        const uint32_t kind = args[i].kind;
        if (kind >= TAPML_P_TENSOR_IN && kind <= TAPML_P_TENSOR_INOUT && !is_plain(args[i].u.p)) {
            answer->grade = TAPML_SUPPORT_NO;
            snprintf(answer->reason, sizeof(answer->reason), "only f32 of one or two axes");
        }
    }
    if (strcmp(op->name, tapml_linear.name) == 0 && args[TAPML_LINEAR_TRANSPOSED].u.i != 0) {
        answer->grade = TAPML_SUPPORT_NO;
        snprintf(answer->reason, sizeof(answer->reason), "no transposed weights");
    }
    return TAPML_OK;
}

// -- Devices -----------------------------------------------------------------------------------

static const tapml_memory_type memory = {
    .hdr = TAPML_HDR(tapml_memory_type), .align = ALIGN, .max_bytes = UINT64_MAX};
static const tapml_memory_type *const memories[] = {&memory};

#define DEVICE(id_, name_, traits_)                                                                \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_device_info), .id = id_, .name = name_, .traits = traits_,          \
        .n_memory_types = 1, .memory_types = memories                                              \
    }
#define HOST_TRAITS (TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC)

static const tapml_device_info device_f64 = DEVICE("f64", "sums in double", HOST_TRAITS);
static const tapml_device_info device_f32 = DEVICE("f32", "sums in float", HOST_TRAITS);
static tapml_device_info reversed =
    DEVICE("reversed", "sums in float, backwards", TAPML_DEVICE_DETERMINISTIC);
static const tapml_device_info *const hosts[] = {&device_f64, &device_f32};
static const tapml_device_info *const targets[] = {&reversed};

static tapml_status devices(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count)
{
    reversed.driver = getenv("OUTSIDE_DRIVER"); // The system says it, as of any device.
    *out_list = own(backend)->is_target ? targets : hosts;
    *out_count = own(backend)->is_target ? 1 : 2;
    return TAPML_OK;
}

static tapml_status open_device(tapml_object *backend,
                                tapml_call *call,
                                const char *device_id,
                                tapml_object **out_device)
{
    struct object seed = *own(backend);
    seed.order = strcmp(device_id, device_f64.id) == 0   ? SUM_DOUBLE
                 : strcmp(device_id, device_f32.id) == 0 ? SUM_FLOAT
                                                         : SUM_REVERSED;
    return object_new(&seed, call, 0, out_device);
}

// -- Buffers -----------------------------------------------------------------------------------

static tapml_status buffer_new(tapml_object *device,
                               tapml_call *call,
                               uint32_t memory_type,
                               uint64_t size,
                               tapml_object **out_buffer)
{
    return object_new(own(device), call, size, out_buffer);
}

static tapml_status buffer_wrap(tapml_object *device,
                                tapml_call *call,
                                void *existing,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer)
{
    const tapml_status status = object_new(own(device), call, 0, out_buffer);
    if (status == TAPML_OK) {
        own(*out_buffer)->data = existing;
    }
    return status;
}

// -- Memory of the host ------------------------------------------------------------------------

// The target keeps its memory to itself, and can yet use what the host has, whole pages of it.
static const tapml_handle_kind pages = {
    .hdr = TAPML_HDR(tapml_handle_kind),
    .id = TAPML_HANDLE_POINTER,
    .traits = TAPML_HANDLE_IMPORTS,
    .grain = 4096,
};
static const tapml_handle_kind *const handle_kinds[] = {&pages};

static tapml_status kinds(tapml_object *device,
                          tapml_call *call,
                          const tapml_handle_kind *const **out_list,
                          uint32_t *out_count)
{
    *out_list = handle_kinds;
    *out_count = 1;
    return TAPML_OK;
}

static tapml_status buffer_import(tapml_object *device,
                                  tapml_call *call,
                                  const tapml_handle *handle,
                                  uint32_t access,
                                  tapml_object **out_buffer)
{
    if (strcmp(handle->kind, TAPML_HANDLE_POINTER) != 0) {
        return fail(own(device), call, TAPML_UNIMPLEMENTED, "pointers alone are imported");
    }
    return buffer_wrap(device, call, (unsigned char *)handle->pointer + handle->offset,
                       handle->size, access, out_buffer);
}

static tapml_status buffer_for(tapml_object *device,
                               tapml_call *call,
                               const char *kind,
                               uint64_t size,
                               tapml_object **out_buffer)
{
    return fail(own(device), call, TAPML_UNIMPLEMENTED, "nothing is exported");
}

static tapml_status
buffer_export(tapml_object *buffer, tapml_call *call, const char *kind, tapml_handle *out_handle)
{
    return fail(own(buffer), call, TAPML_UNIMPLEMENTED, "nothing is exported");
}

static const tapml_memory_handles handles = {.hdr = TAPML_HDR(tapml_memory_handles),
                                             .kinds = kinds,
                                             .buffer_import = buffer_import,
                                             .buffer_new = buffer_for,
                                             .buffer_export = buffer_export};

// -- Queues and timelines ----------------------------------------------------------------------

static tapml_status queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue)
{
    return object_new(own(device), call, 0, out_queue);
}

static tapml_status queue_write(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    memcpy(own(buffer)->data + offset, source, size);
    return TAPML_OK;
}

static tapml_status queue_read(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               void *target,
                               uint64_t size)
{
    memcpy(target, own(buffer)->data + offset, size);
    return TAPML_OK;
}

static tapml_status queue_copy(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *source,
                               uint64_t source_offset,
                               tapml_object *target,
                               uint64_t target_offset,
                               uint64_t size)
{
    memcpy(own(target)->data + target_offset, own(source)->data + source_offset, size);
    return TAPML_OK;
}

static tapml_status queue_fill(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t pattern)
{
    for (uint64_t done = 0; done < size; done += sizeof(pattern)) {
        memcpy(own(buffer)->data + offset + done, &pattern, sizeof(pattern));
    }
    return TAPML_OK;
}

static tapml_status queue_signal(tapml_object *queue, tapml_call *call, tapml_point point)
{
    own(point.timeline)->reached = point.value;
    return TAPML_OK;
}

static tapml_status
timeline_new(tapml_object *device, tapml_call *call, uint64_t initial, tapml_object **out_timeline)
{
    const tapml_status status = object_new(own(device), call, 0, out_timeline);
    if (status == TAPML_OK) {
        own(*out_timeline)->reached = initial;
    }
    return status;
}

static tapml_status timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value)
{
    *out_value = own(timeline)->reached;
    return TAPML_OK;
}

static tapml_status
timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    return own(timeline)->reached >= value
               ? TAPML_OK
               : fail(own(timeline), call, TAPML_DEADLINE, "no work is queued that would signal");
}

// -- The components and the plugin -------------------------------------------------------------

static const tapml_backend table = {
    .hdr = TAPML_HDR(tapml_backend),
    .devices = devices,
    .open = open_device,
    .ops = ops,
    .supports = supports,
    .buffer_new = buffer_new,
    .buffer_wrap = buffer_wrap,
    .queue_new = queue_new,
    .queue_write = queue_write,
    .queue_read = queue_read,
    .queue_copy = queue_copy,
    .queue_fill = queue_fill,
    .queue_signal = queue_signal,
    .timeline_new = timeline_new,
    .timeline_value = timeline_value,
    .timeline_wait = timeline_wait,
};

static const void *object_interface(tapml_object *object, const char *id)
{
    if (strcmp(id, TAPML_MEMORY_HANDLES) == 0) {
        return own(object)->is_target ? &handles : NULL;
    }
    return strcmp(id, TAPML_KIND_BACKEND) == 0 ? &table : NULL;
}

static const tapml_object_vt object_vt = {
    .hdr = TAPML_HDR(tapml_object_vt),
    .release = object_release,
    .interface_of = object_interface,
};

static tapml_status
probe(const tapml_component *component, const tapml_host *host, tapml_call *call)
{
#ifdef SPOIL_DRIVER
    const struct object seed = {.host = host, .core = host->interface_of(host, TAPML_HOST_CORE)};
    return fail(&seed, call, TAPML_UNAVAILABLE, "liboutside-driver.so.1 not found");
#else
    return TAPML_OK;
#endif
}

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    const struct object seed = {
        .host = host,
        .core = host->interface_of(host, TAPML_HOST_CORE),
        .is_target = strncmp(component->id, "outside-target", 14) == 0,
    };
    return object_new(&seed, call, 0, out_root);
}

static const tapml_component host_component = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "outside" OUTSIDE_SUFFIX,
    .title = "Ordinary memory, sums from the first term on",
    .probe = probe,
    .create = create,
};
static const tapml_component target_component = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "outside-target" OUTSIDE_SUFFIX,
    .title = "A device of its own memory, sums from the last term on",
    .probe = probe,
    .create = create,
};
static const tapml_component *const components[] = {&host_component, &target_component};
static const tapml_plugin plugin = {
    .hdr = TAPML_HDR(tapml_plugin),
    .abi_major = TAPML_ABI_MAJOR,
    .abi_built = TAPML_ABI_MINOR,
    .abi_needed = TAPML_TARGET_MINOR,
    .sanitizer = TAPML_SANITIZER,
    .id = "org.example.outside" OUTSIDE_SUFFIX,
    .version = "1.0.0",
    .vendor = "Example",
    .license = "Apache-2.0",
    .n_components = 2,
    .components = components,
};

tapml_status tapml_plugin_query_v1(const tapml_query *query, const tapml_plugin **out_plugin)
{
    if (!TAPML_HAS(tapml_query, query, host_version)) {
        return TAPML_ABI_MISMATCH;
    }
    *out_plugin = &plugin;
    return TAPML_OK;
}
