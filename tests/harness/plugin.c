// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plugin.h"

#include <tapml/host.h>
#include <tapml/ops.h>
#include <tapml/plugin.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 16 };

struct plugin {
    tapml_host host;
    const tapml_component *component;
    const tapml_backend *table;
    const tapml_device_info *info;
    tapml_object *root, *device, *queue, *timeline;
    uint64_t signalled;
    uint32_t thread_count;
    const char *const *options;
    atomic_size_t live_count, allocation_count, fault_count, range_count;
    atomic_bool memory_refused;
};

static struct plugin *plugin_of(const tapml_host *host)
{
    return host->impl;
}

// -- tapml.host.core/1
// -----------------------------------------------------------------------------

static tapml_status core_fail(tapml_call *call,
                              tapml_status code,
                              int64_t native_code,
                              const char *domain,
                              const char *message,
                              size_t message_bytes)
{
    call->code = code;
    snprintf(call->message, sizeof(call->message), "%.*s", (int)message_bytes, message);
    return code;
}

static void core_blame(tapml_call *call, uint64_t n)
{
}

static void
core_log(const tapml_host *host, int32_t level, const char *message, size_t message_bytes)
{
}

// What was asked for stands in front of the memory, to compare it with what comes back.
struct allocation {
    size_t size, align;
};

static size_t header_bytes(size_t align)
{
    return align > sizeof(struct allocation) ? align : sizeof(struct allocation);
}

static void *core_alloc(const tapml_host *host, size_t size, size_t align)
{
    struct plugin *plugin = plugin_of(host);
    const size_t header = header_bytes(align);

    if (plugin->memory_refused || size > SIZE_MAX / 2) {
        return NULL;
    }

    unsigned char *block = aligned_alloc(align, (header + size + align - 1) / align * align);

    if (block == NULL) {
        return NULL;
    }
    plugin->live_count++;
    plugin->allocation_count++;
    *(struct allocation *)(void *)(block + header - sizeof(struct allocation)) =
        (struct allocation){size, align};
    return block + header;
}

static void core_free(const tapml_host *host, void *memory, size_t size, size_t align)
{
    struct plugin *plugin = plugin_of(host);

    if (memory == NULL) {
        return;
    }

    const struct allocation *allocation = (const struct allocation *)memory - 1;

    plugin->fault_count += allocation->size != size || allocation->align != align;
    plugin->live_count--;
    free((unsigned char *)memory - header_bytes(allocation->align));
}

static int32_t core_cancelled(tapml_call *call)
{
    return 0;
}

static const char *core_option(const tapml_host *host, const char *key)
{
    const char *const *option = plugin_of(host)->options;

    for (; option != NULL && option[0] != NULL; option += 2) {
        if (strcmp(option[0], key) == 0) {
            return option[1];
        }
    }
    return NULL;
}

static const tapml_host_core core = {
    .hdr = TAPML_HDR(tapml_host_core),
    .fail = core_fail,
    .blame = core_blame,
    .log = core_log,
    .alloc = core_alloc,
    .free = core_free,
    .cancelled = core_cancelled,
    .option = core_option,
};

// -- tapml.host.work/1
// -----------------------------------------------------------------------------

// Work that threads take range by range.
struct shared_work {
    struct plugin *plugin;
    atomic_uint_fast64_t next;
    uint64_t count, grain;
    void (*body)(void *user, uint64_t begin, uint64_t end);
    void *user;
};

static void *take_ranges(void *argument)
{
    struct shared_work *work = argument;

    for (;;) {
        const uint64_t begin = atomic_fetch_add(&work->next, work->grain);

        if (begin >= work->count) {
            return NULL;
        }

        const uint64_t rest = work->count - begin;

        work->plugin->range_count++;
        work->body(work->user, begin, begin + (rest < work->grain ? rest : work->grain));
    }
}

static uint32_t work_width(const tapml_host *host)
{
    return plugin_of(host)->thread_count;
}

static tapml_status work_parallel_for(const tapml_host *host,
                                      tapml_call *call,
                                      uint64_t n,
                                      uint64_t grain,
                                      void (*body)(void *user, uint64_t begin, uint64_t end),
                                      void *user)
{
    struct plugin *plugin = plugin_of(host);
    struct shared_work work = {
        .plugin = plugin, .count = n, .grain = grain, .body = body, .user = user};
    pthread_t threads[THREADS_MAX];
    uint32_t started = 0;

    while (started + 1 < plugin->thread_count && started < THREADS_MAX &&
           pthread_create(&threads[started], NULL, take_ranges, &work) == 0) {
        started++;
    }
    take_ranges(&work);
    while (started > 0) {
        pthread_join(threads[--started], NULL);
    }
    return TAPML_OK;
}

static const tapml_host_work host_work = {
    .hdr = TAPML_HDR(tapml_host_work),
    .width = work_width,
    .parallel_for = work_parallel_for,
};

static const void *host_interface(const tapml_host *host, const char *id)
{
    if (strcmp(id, TAPML_HOST_CORE) == 0) {
        return &core;
    }
    return strcmp(id, TAPML_HOST_WORK) == 0 && plugin_of(host)->thread_count > 0 ? &host_work
                                                                                 : NULL;
}

// -- Opening
// ---------------------------------------------------------------------------------------

static tapml_status fail(tapml_call *call, tapml_status code, const char *message)
{
    return core_fail(call, code, 0, NULL, message, strlen(message));
}

static tapml_status
find_component(struct plugin *plugin, const struct plugin_options *options, tapml_call *call)
{
    const tapml_query query = {TAPML_HDR(tapml_query), TAPML_ABI_MAJOR, TAPML_ABI_MINOR, "harness",
                               "1"};
    const char *build = getenv("TAPML_TEST_BUILD");
    const tapml_plugin *found = NULL;
    tapml_plugin_query_fn query_plugin;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", build != NULL ? build : ".", options->library);

    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (library == NULL) {
        return fail(call, TAPML_NOT_FOUND, dlerror());
    }
    *(void **)(&query_plugin) = dlsym(library, TAPML_PLUGIN_SYMBOL);
    if (query_plugin == NULL || query_plugin(&query, &found) != TAPML_OK) {
        return fail(call, TAPML_ABI_MISMATCH, "the library does not answer the query");
    }
    for (uint32_t i = 0; i < found->n_components; i++) {
        if (strcmp(found->components[i]->id, options->component) == 0) {
            plugin->component = found->components[i];
            return TAPML_OK;
        }
    }
    return fail(call, TAPML_NOT_FOUND, "the plugin has no such component");
}

static tapml_status open_root(struct plugin *plugin, tapml_call *call)
{
    if (plugin->component->probe != NULL) {
        const tapml_status status =
            plugin->component->probe(plugin->component, &plugin->host, call);

        if (status != TAPML_OK) {
            return status;
        }
    }
    return plugin->component->create(plugin->component, &plugin->host, call, &plugin->root);
}

static tapml_status
open_device(struct plugin *plugin, const struct plugin_options *options, tapml_call *call)
{
    const tapml_device_info *const *list;
    uint32_t count;

    plugin->table = plugin->root->vt->interface_of(plugin->root, TAPML_KIND_BACKEND);

    tapml_status status = plugin->table->devices(plugin->root, call, &list, &count);

    for (uint32_t i = 0; status == TAPML_OK && i < count && plugin->info == NULL; i++) {
        if (options->device == NULL || strcmp(list[i]->id, options->device) == 0) {
            plugin->info = list[i];
        }
    }
    if (status == TAPML_OK && plugin->info == NULL) {
        status = fail(call, TAPML_NOT_FOUND, "no such device");
    }
    if (status == TAPML_OK) {
        status = plugin->table->open(plugin->root, call, plugin->info->id, &plugin->device);
    }
    if (status == TAPML_OK) {
        status = plugin->table->queue_new(plugin->device, call, &plugin->queue);
    }
    if (status == TAPML_OK) {
        status = plugin->table->timeline_new(plugin->device, call, 0, &plugin->timeline);
    }
    return status;
}

tapml_status
plugin_open(const struct plugin_options *options, tapml_call *call, struct plugin **out_plugin)
{
    struct plugin *plugin = calloc(1, sizeof(*plugin));

    if (plugin == NULL) {
        return fail(call, TAPML_NO_MEMORY, "no memory");
    }
    plugin->host = (tapml_host){
        .hdr = TAPML_HDR(tapml_host),
        .abi_major = TAPML_ABI_MAJOR,
        .abi_minor = TAPML_ABI_MINOR,
        .impl = plugin,
        .interface_of = host_interface,
    };
    plugin->thread_count = options->threads;
    plugin->options = options->options;

    tapml_status status = find_component(plugin, options, call);

    if (status == TAPML_OK) {
        status = open_root(plugin, call);
    }
    if (status == TAPML_OK) {
        status = open_device(plugin, options, call);
    }
    if (status != TAPML_OK) {
        plugin_close(plugin);
        return status;
    }
    *out_plugin = plugin;
    return TAPML_OK;
}

static void release(tapml_object *object)
{
    if (object != NULL) {
        object->vt->release(object);
    }
}

size_t plugin_close(struct plugin *plugin)
{
    if (plugin == NULL) {
        return 0;
    }
    release(plugin->timeline);
    release(plugin->queue);
    release(plugin->device);
    release(plugin->root);
    if (plugin->component != NULL && plugin->component->shutdown != NULL) {
        plugin->component->shutdown(plugin->component);
    }

    const size_t faults = plugin->live_count + plugin->fault_count;

    free(plugin);
    return faults;
}

const tapml_backend *plugin_table(const struct plugin *plugin)
{
    return plugin->table;
}

const tapml_device_info *plugin_info(const struct plugin *plugin)
{
    return plugin->info;
}

tapml_object *plugin_root(const struct plugin *plugin)
{
    return plugin->root;
}

tapml_object *plugin_device(const struct plugin *plugin)
{
    return plugin->device;
}

tapml_object *plugin_queue(const struct plugin *plugin)
{
    return plugin->queue;
}

size_t plugin_allocation_count(const struct plugin *plugin)
{
    return plugin->allocation_count;
}

void plugin_refuse_memory(struct plugin *plugin, bool refused)
{
    plugin->memory_refused = refused;
}

size_t plugin_range_count(const struct plugin *plugin)
{
    return plugin->range_count;
}

tapml_status plugin_wait(struct plugin *plugin, tapml_call *call)
{
    const tapml_backend *table = plugin->table;
    const tapml_point point = {plugin->timeline, ++plugin->signalled};
    tapml_status status = table->queue_signal(plugin->queue, call, point);

    if (status == TAPML_OK && table->queue_flush != NULL) {
        status = table->queue_flush(plugin->queue, call);
    }
    return status == TAPML_OK
               ? table->timeline_wait(plugin->timeline, call, point.value, UINT64_C(60000000000))
               : status;
}

tapml_status
plugin_apply(struct plugin *plugin, const tapml_op *op, const tapml_value *args, tapml_call *call)
{
    const tapml_op_impl *const *list;
    uint32_t count;
    tapml_status status = plugin->table->ops(plugin->device, call, &list, &count);

    if (status != TAPML_OK) {
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i]->op->name, op->name) == 0) {
            status = tapml_ops_apply(list[i], plugin->queue, call, args);
            return status == TAPML_OK ? plugin_wait(plugin, call) : status;
        }
    }
    return fail(call, TAPML_UNIMPLEMENTED, "the device lacks the op");
}

tapml_support plugin_supports(struct plugin *plugin, const tapml_op *op, const tapml_value *args)
{
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_YES};
    tapml_call call = {0};

    if (plugin->table->supports != NULL) {
        answer.grade = TAPML_SUPPORT_NO;
        (void)plugin->table->supports(plugin->device, &call, op, args, op->n_params, &answer);
    }
    return answer;
}
