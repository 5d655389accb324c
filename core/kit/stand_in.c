// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/stand_in.h"

#include "base/alloc.h"

#include <tapml/model.h>

#include <stdatomic.h>
#include <string.h>

// What memory has before the plugin writes it, which no host promises to be zero, and its edge.
enum { FRESH_BYTE = 0xcd, EDGE_BYTES = 64, EDGE_BYTE = 0xa5 };

struct stand_in {
    struct services services; // First: `impl` of the host is its address.
    tapml_host host;          // What the component gets.
    tapml_host_core core;
    const tapml_component *component;
    struct tapml_call call;
    uint32_t minor;
    _Atomic uint64_t live, live_bytes, count, mistaken, overrun;
    _Atomic uint64_t left; // Allocations that are still given, if `refuses`.
    atomic_int refuses;
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
    return strcmp(id, TAPML_HOST_CORE) == 0 ? &host->core
                                            : host->services.host.interface_of(self, id);
}

tapml_status stand_in_create(const struct stand_in_options *options, struct stand_in **out_host)
{
    struct stand_in *host = alloc_new(sizeof(*host));

    if (host == NULL) {
        return status_no_memory();
    }
    services_init(&host->services, options->manifest, options->minor);
    host->component = options->component;
    host->minor = options->minor;
    host->host = host->services.host;
    host->host.impl = host;
    host->host.interface_of = interface_of;
    host->core = *(const tapml_host_core *)host->services.host.interface_of(&host->services.host,
                                                                            TAPML_HOST_CORE);
    host->core.alloc = core_alloc;
    host->core.free = core_free;
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
