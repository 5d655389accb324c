// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/stand_in.h"

#include "base/alloc.h"

#include <tapml/model.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

// What memory has before the plugin writes it, which no host promises to be zero, and its edge.
enum { FRESH_BYTE = 0xcd, EDGE_BYTES = 64, EDGE_BYTE = 0xa5 };

struct stand_in {
    struct services services; // First: `impl` of the host is its address.
    tapml_host host;          // What the component gets.
    tapml_host_core core;
    tapml_host_work work;
    const tapml_host_work *inner_work; // What `work` stands before.
    const tapml_component *component;
    struct tapml_call call;
    uint32_t minor;
    _Atomic uint64_t live, live_bytes, count, mistaken, overrun;
    _Atomic uint64_t left; // Allocations that are still given, if `refuses`.
    atomic_int refuses;
    _Atomic pthread_t caller; // The thread that calls the component.
    _Atomic uint64_t foreign; // Calls of another thread that only this one may make.
};

static struct stand_in *own(const tapml_host *host)
{
    return host->impl;
}

// -- Memory ------------------------------------------------------------------------------------

// What was asked for stands in front of the memory, and an edge behind it.
struct stand_in_block {
    size_t size, align;
};

static size_t header_bytes(size_t align)
{
    return align > sizeof(struct stand_in_block) ? align : sizeof(struct stand_in_block);
}

static int takes_one(struct stand_in *host)
{
    if (!atomic_load(&host->refuses)) {
        return 1;
    }
    uint64_t left = atomic_load(&host->left);

    while (left > 0) {
        if (atomic_compare_exchange_weak(&host->left, &left, left - 1)) {
            return 1;
        }
    }
    return 0;
}

static void *core_alloc(const tapml_host *self, size_t size, size_t align)
{
    struct stand_in *host = own(self);

    if (align == 0 || (align & (align - 1)) != 0 || size > SIZE_MAX / 2 || !takes_one(host)) {
        return NULL;
    }
    const size_t header = header_bytes(align);
    unsigned char *memory = alloc_aligned(header + size + EDGE_BYTES, header);

    if (memory == NULL) {
        return NULL;
    }
    memcpy(memory + header - sizeof(struct stand_in_block), &(struct stand_in_block){size, align},
           sizeof(struct stand_in_block));
    memset(memory + header, FRESH_BYTE, size);
    memset(memory + header + size, EDGE_BYTE, EDGE_BYTES);
    (void)atomic_fetch_add(&host->live, 1);
    (void)atomic_fetch_add(&host->live_bytes, size);
    (void)atomic_fetch_add(&host->count, 1);
    return memory + header;
}

static int is_edge_whole(const unsigned char *edge)
{
    for (size_t i = 0; i < EDGE_BYTES; i++) {
        if (edge[i] != EDGE_BYTE) {
            return 0;
        }
    }
    return 1;
}

static void core_free(const tapml_host *self, void *memory, size_t size, size_t align)
{
    struct stand_in *host = own(self);
    struct stand_in_block block;

    if (memory == NULL) {
        return;
    }
    memcpy(&block, (unsigned char *)memory - sizeof(block), sizeof(block));
    if (block.size != size || block.align != align) {
        (void)atomic_fetch_add(&host->mistaken, 1);
    }
    if (!is_edge_whole((unsigned char *)memory + block.size)) {
        (void)atomic_fetch_add(&host->overrun, 1);
    }
    (void)atomic_fetch_sub(&host->live, 1);
    (void)atomic_fetch_sub(&host->live_bytes, block.size);
    alloc_free((unsigned char *)memory - header_bytes(block.align));
}

// -- Work --------------------------------------------------------------------------------------

// Of class [object]: the object is the host, and who is in a call on it is the thread that called
// the component.
static tapml_status work_parallel_for(const tapml_host *self,
                                      tapml_call *call,
                                      uint64_t n,
                                      uint64_t grain,
                                      void (*body)(void *user, uint64_t begin, uint64_t end),
                                      void *user)
{
    struct stand_in *host = own(self);

    if (!pthread_equal(atomic_load(&host->caller), pthread_self())) {
        (void)atomic_fetch_add(&host->foreign, 1);
    }
    return host->inner_work->parallel_for(self, call, n, grain, body, user);
}

uint64_t stand_in_foreign_calls(const struct stand_in *host)
{
    return atomic_load(&host->foreign);
}

// -- The host ----------------------------------------------------------------------------------

// An older host has no interface that came later.
static int is_newer(const struct stand_in *host, const char *id)
{
    enum { PARTS_MINOR = 4 };

    return strcmp(id, TAPML_HOST_PARTS) == 0 && host->minor < PARTS_MINOR;
}

static const void *interface_of(const tapml_host *self, const char *id)
{
    struct stand_in *host = own(self);

    if (id == NULL || is_newer(host, id)) {
        return NULL;
    }
    if (strcmp(id, TAPML_HOST_CORE) == 0) {
        return &host->core;
    }
    return strcmp(id, TAPML_HOST_WORK) == 0 ? (const void *)&host->work
                                            : host->services.host.interface_of(self, id);
}

tapml_status stand_in_create(const struct stand_in_options *options, struct stand_in **out_host)
{
    struct stand_in *host = alloc_new(sizeof(*host));

    if (host == NULL) {
        return status_no_memory();
    }
    services_init(&host->services, options->manifest, options->minor);
    host->services.ini = options->ini;
    host->component = options->component;
    host->minor = options->minor;
    host->host = host->services.host;
    host->host.impl = host;
    host->host.interface_of = interface_of;
    host->core = *(const tapml_host_core *)host->services.host.interface_of(&host->services.host,
                                                                            TAPML_HOST_CORE);
    host->core.alloc = core_alloc;
    host->core.free = core_free;
    host->inner_work = host->services.host.interface_of(&host->services.host, TAPML_HOST_WORK);
    host->work = *host->inner_work;
    host->work.parallel_for = work_parallel_for;
    atomic_store(&host->caller, pthread_self());
    *out_host = host;
    return TAPML_OK;
}

void stand_in_destroy(struct stand_in *host)
{
    alloc_free(host);
}

tapml_call *stand_in_call(struct stand_in *host)
{
    services_begin(&host->call);
    atomic_store(&host->caller, pthread_self());
    return &host->call;
}

const char *stand_in_message(const struct stand_in *host)
{
    return host->call.text;
}

// -- The states of a component -----------------------------------------------------------------

tapml_status stand_in_probe(struct stand_in *host)
{
    return host->component->probe == NULL
               ? TAPML_OK
               : host->component->probe(host->component, &host->host, stand_in_call(host));
}

tapml_status stand_in_open(struct stand_in *host, tapml_object **out_root)
{
    return host->component->create(host->component, &host->host, stand_in_call(host), out_root);
}

void stand_in_shut(struct stand_in *host)
{
    if (host->component->shutdown != NULL) {
        host->component->shutdown(host->component);
    }
}

// -- What it has seen --------------------------------------------------------------------------

struct stand_in_memory stand_in_memory(const struct stand_in *host)
{
    return (struct stand_in_memory){.live = atomic_load(&host->live),
                                    .live_bytes = atomic_load(&host->live_bytes),
                                    .count = atomic_load(&host->count),
                                    .mistaken = atomic_load(&host->mistaken),
                                    .overrun = atomic_load(&host->overrun)};
}

void stand_in_refuse(struct stand_in *host, uint64_t n)
{
    atomic_store(&host->left, n > 0 ? n - 1 : 0);
    atomic_store(&host->refuses, n > 0);
}
