// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "identity.h"

#include "foreign.h"
#include "ops.h"
#include "own.h"

#include <stdio.h>
#include <string.h>

// What an op is made of: the digest of its sources, and its kernels, each with a blank behind it.
// tools/identity finds both.
static const struct {
    const char *op, *digest, *kernels;
} sources[] = {
#include "gpu_identities.def"
};

enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };
_Static_assert((int)SOURCE_COUNT <= (int)GPU_IDENTITIES_MAX, "there is room for every op");

// FNV-1a, in two lanes that begin differently: a change is found, an attack is not.
struct digest {
    uint64_t lanes[2];
};

static const struct digest digest_begin = {{0xcbf29ce484222325u, 0x84222325cbf29ce4u}};
static const uint64_t digest_prime = 0x100000001b3u;

static void add_bytes(struct digest *digest, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t first = digest->lanes[0], second = digest->lanes[1];

    for (size_t i = 0; i < size; i++) {
        first = (first ^ bytes[i]) * digest_prime;
        second = (second ^ bytes[i] ^ first >> 56) * digest_prime;
    }
    digest->lanes[0] = first;
    digest->lanes[1] = second;
}

static void add_number(struct digest *digest, uint64_t number)
{
    add_bytes(digest, &number, sizeof(number));
}

static void add_text(struct digest *digest, const char *text)
{
    add_bytes(digest, text, strlen(text) + 1);
}

static void add_kernel(struct digest *digest, const struct k_kernel *kernel)
{
    add_text(digest, kernel->name);
    add_number(digest, kernel->variant);
    add_number(digest, kernel->params_size);
    for (uint32_t i = 0; i < kernel->n_tune; i++) {
        add_text(digest, kernel->tune[i].name);
        add_number(digest, kernel->tune[i].id);
        add_number(digest, kernel->tune[i].def);
    }
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        add_text(digest, kernel->binding[i].name);
        add_number(digest, kernel->binding[i].index);
        add_number(digest, kernel->binding[i].access);
    }
    add_number(digest, kernel->size);
    add_bytes(digest, kernel->code, kernel->size);
}

static int is_named(const char *names, const char *name)
{
    const size_t length = strlen(name);

    while (*names != '\0') {
        const size_t here = strcspn(names, " ");

        if (here == length && memcmp(names, name, length) == 0) {
            return 1;
        }
        names += here + 1;
    }
    return 0;
}

static void write_digest(const struct digest *digest, char *out_text)
{
    (void)snprintf(out_text, GPU_IDENTITY_TEXT, "%016llx%016llx",
                   (unsigned long long)digest->lanes[0], (unsigned long long)digest->lanes[1]);
}

// Adds the kernels that are `named`, all where that is NULL, of a table that ends with one without
// a name; or of none.
static void add_kernels(struct digest *digest, const struct k_kernel *table, const char *named)
{
    for (const struct k_kernel *kernel = table; kernel->name != NULL; kernel++) {
        if (named == NULL || is_named(named, kernel->name)) {
            add_kernel(digest, kernel);
        }
    }
}

static void make_digest(const struct gpu_driver *driver, uint32_t index, char *out_text)
{
    struct digest digest = digest_begin;

    add_text(&digest, __VERSION__);
    add_text(&digest, sources[index].digest);
    add_text(&digest, driver->sources);
    add_kernels(&digest, driver->kernels, sources[index].kernels);
    add_kernels(&digest, gpu_own_replacements(driver), sources[index].kernels);
    write_digest(&digest, out_text);
}

// Of every op of the driver's own: this library, the driver, and all kernels, as nothing says which
// of them the op launches.
static void make_own_digest(const struct gpu_driver *driver, char *out_text)
{
    struct digest digest = digest_begin;

    add_text(&digest, __VERSION__);
    for (uint32_t i = 0; i < SOURCE_COUNT; i++) {
        add_text(&digest, sources[i].digest);
    }
    add_text(&digest, driver->sources);
    add_kernels(&digest, driver->kernels, NULL);
    add_kernels(&digest, gpu_own_kernels(driver), NULL);
    add_kernels(&digest, gpu_own_replacements(driver), NULL);
    write_digest(&digest, out_text);
}

// Of a kernel that is not ours, and the driver that compiles it.
static const char *digest_text(struct gpu_device *device)
{
    struct digest digest = digest_begin;
    size_t size = 0;
    const unsigned char *code = gpu_foreign_code(device->foreign, &size);

    add_text(&digest, gpu_foreign_text(device->foreign));
    add_bytes(&digest, code, size);
    add_text(&digest, device->root->driver->sources);
    write_digest(&digest, device->identities[0]);
    return device->identities[0];
}

static const char *identity_digest(tapml_object *object, const tapml_op *op)
{
    struct gpu_device *device = (struct gpu_device *)object;
    uint32_t index = 0;

    if (device->foreign != NULL) {
        return digest_text(device);
    }
    if (gpu_own_find_op(device->root->driver, op) != NULL) {
        if (device->own_identity[0] == '\0') {
            make_own_digest(device->root->driver, device->own_identity);
        }
        return device->own_identity;
    }
    while (index < SOURCE_COUNT && strcmp(sources[index].op, op->name) != 0) {
        index++;
    }
    if (index == SOURCE_COUNT) {
        return NULL;
    }
    if (device->identities[index][0] == '\0') {
        make_digest(device->root->driver, index, device->identities[index]);
    }
    return device->identities[index];
}

static const tapml_identity identity = {TAPML_HDR(tapml_identity), identity_digest};

const tapml_identity *gpu_identity(const struct gpu_device *device)
{
    return device->root->driver->sources != NULL ? &identity : NULL;
}
