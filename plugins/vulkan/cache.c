// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The pipeline cache on disk: $XDG_CACHE_HOME/tapml/vulkan, or ~/.cache/tapml/vulkan, one file for
// each device and driver.
//
// A driver reads such data with little doubt, so that it gets only what this plugin has written:
// the folders and the file are the user's and nobody else can write to them, none is a link, and
// the bytes are those of the driver that runs now, whole. Everything else is as if it were not
// there.
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t data_bytes_max = 64ull << 20;

struct cache_head {
    char magic[8];
    uint32_t vendor, device, version, unused;
    uint8_t uuid[VK_UUID_SIZE];
    uint64_t size, hash; // Of what follows.
};

static struct cache_head
make_head(const struct driver_device *device, const uint8_t *data, uint64_t size)
{
    const struct device_traits *traits = &device->traits;
    struct cache_head head = {.magic = {'t', 'a', 'p', 'm', 'l', 'v', 'k', '1'},
                              .vendor = traits->vendor,
                              .device = traits->device,
                              .version = traits->version,
                              .size = size,
                              .hash = 0xcbf29ce484222325u};

    memcpy(head.uuid, traits->cache_uuid, sizeof(head.uuid));
    for (uint64_t i = 0; i < size; i++) { // FNV-1a
        head.hash = (head.hash ^ data[i]) * 0x100000001b3u;
    }
    return head;
}

// -- Files -------------------------------------------------------------------------------------

// Whether the open file or folder is the user's alone to write.
static int is_private(int fd, mode_t kind)
{
    struct stat info;

    return fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == kind && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The folder `name` of `parent`, which is closed; -1 where it is not there and cannot be made, or
// is not to be trusted.
static int enter(int parent, const char *name)
{
    if (parent < 0) {
        return -1;
    }
    (void)mkdirat(parent, name, S_IRWXU); // Or it is there.
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    (void)close(parent);
    if (fd >= 0 && !is_private(fd, S_IFDIR)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

static int open_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int base = -1;

    if (cache != NULL && cache[0] == '/') {
        (void)mkdir(cache, S_IRWXU); // As its specification says.
        base = open(cache, flags);
    } else if (home != NULL && home[0] == '/') {
        base = enter(open(home, flags), ".cache");
    }
    return enter(enter(base, "tapml"), "vulkan");
}

static void name_file(const struct driver_device *device, char name[64])
{
    for (uint32_t i = 0; i < VK_UUID_SIZE; i++) {
        (void)snprintf(name + (size_t)2 * i, 3, "%02x", device->traits.cache_uuid[i]); // Fits.
    }
    (void)snprintf(name + (size_t)2 * VK_UUID_SIZE, 31, "-%x-%x", device->traits.vendor,
                   device->traits.device); // Likewise.
}

static int read_whole(int fd, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = read(fd, (char *)data + done, size - done);

        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

static int write_whole(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = write(fd, (const char *)data + done, size - done);

        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

// -- Loading -----------------------------------------------------------------------------------

// Whether the data begins as Vulkan says that it does, for this device.
static int is_of_device(const struct driver_device *device, const uint8_t *data, uint64_t size)
{
    const struct device_traits *traits = &device->traits;
    VkPipelineCacheHeaderVersionOne head;

    if (size < sizeof(head)) {
        return 0;
    }
    memcpy(&head, data, sizeof(head));
    return head.headerSize >= sizeof(head) && head.headerSize <= size &&
           head.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           head.vendorID == traits->vendor && head.deviceID == traits->device &&
           memcmp(head.pipelineCacheUUID, traits->cache_uuid, VK_UUID_SIZE) == 0;
}

// The data of the open file, `size` bytes to be freed; NULL where it is not to be trusted.
static uint8_t *read_data(const struct driver_device *device, int fd, uint64_t *out_size)
{
    const struct gpu_host *host = device->root->host;
    struct cache_head head;
    struct stat info;

    if (!is_private(fd, S_IFREG) || fstat(fd, &info) != 0 || !read_whole(fd, &head, sizeof(head)) ||
        head.size > data_bytes_max || (uint64_t)info.st_size != sizeof(head) + head.size ||
        head.size == 0) {
        return NULL;
    }
    uint8_t *data = gpu_alloc(host, (size_t)head.size);

    if (data != NULL && read_whole(fd, data, (size_t)head.size)) {
        const struct cache_head expected = make_head(device, data, head.size);

        if (memcmp(&head, &expected, sizeof(head)) == 0 && is_of_device(device, data, head.size)) {
            *out_size = head.size;
            return data;
        }
    }
    gpu_free(host, data, (size_t)head.size);
    return NULL;
}

static uint8_t *find_data(const struct driver_device *device, uint64_t *out_size)
{
    const int folder = open_folder();
    uint8_t *data = NULL;
    char name[64];

    if (folder < 0) {
        return NULL;
    }
    name_file(device, name);
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0) {
        data = read_data(device, fd, out_size);
        (void)close(fd);
    }
    (void)close(folder);
    return data;
}

void cache_load(struct driver_device *device)
{
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    uint64_t size = 0;

    if (!device->is_cache_on) {
        return;
    }
    uint8_t *data = find_data(device, &size);

    info.initialDataSize = (size_t)size;
    info.pInitialData = data;
    if (device->vk.vkCreatePipelineCache(device->device, &info, NULL, &device->cache) < 0) {
        device->cache = VK_NULL_HANDLE; // Then nothing is kept.
    }
    device->cached_bytes = size;
    gpu_free(device->root->host, data, (size_t)size);
}

// -- Storing -----------------------------------------------------------------------------------

// Under a name of its own first: who reads finds the old file or the new one.
static void
write_file(const struct driver_device *device, int folder, const uint8_t *data, uint64_t size)
{
    const struct cache_head head = make_head(device, data, size);
    char name[64], part[96];

    name_file(device, name);
    (void)snprintf(part, sizeof(part), "%s.%ld.part", name, (long)getpid()); // Fits.
    const int fd = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR);

    if (fd < 0) {
        return;
    }
    const int is_whole =
        write_whole(fd, &head, sizeof(head)) && write_whole(fd, data, (size_t)size);

    if (close(fd) != 0 || !is_whole || renameat(folder, part, folder, name) != 0) {
        (void)unlinkat(folder, part, 0);
    }
}

void cache_store(struct driver_device *device)
{
    const struct gpu_host *host = device->root->host;
    size_t size = 0;

    if (device->cache == VK_NULL_HANDLE ||
        device->vk.vkGetPipelineCacheData(device->device, device->cache, &size, NULL) < 0 ||
        size == 0 || size > data_bytes_max || size == device->cached_bytes) {
        return; // Nothing, or nothing new.
    }
    const size_t room = size;
    uint8_t *data = gpu_alloc(host, room);

    if (data != NULL && device->vk.vkGetPipelineCacheData(device->device, device->cache, &size,
                                                          data) == VK_SUCCESS) {
        const int folder = open_folder();

        if (folder >= 0) {
            write_file(device, folder, data, size);
            (void)close(folder);
        }
    }
    gpu_free(host, data, room);
}
