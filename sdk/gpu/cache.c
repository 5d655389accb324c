// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include <tapml/gpu/cache.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 40 };

static const uint64_t data_bytes_max = 64ull << 20;

struct cache_head {
    char magic[8];
    uint64_t size;
    struct gpu_cache_key key, sum; // Of the file, and of what follows.
};

// Two sums that mix in different ways, FNV-1a and one that turns: 128 bits without a library.
void gpu_cache_key_add(struct gpu_cache_key *key, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++) {
        key->first = (key->first ^ 0xcbf29ce484222325u ^ bytes[i]) * 0x100000001b3u;
        key->second = (key->second + bytes[i] + 1) * 0x9e3779b97f4a7c15u;
        key->second = (key->second << 29) | (key->second >> 35);
    }
}

static struct cache_head make_head(const struct gpu_cache_key *key, const void *data, uint64_t size)
{
    struct cache_head head = {
        .magic = {'t', 'a', 'p', 'm', 'l', 'k', 'c', '1'}, .size = size, .key = *key};

    gpu_cache_key_add(&head.sum, data, (size_t)size);
    return head;
}

static void name_file(const struct gpu_cache_key *key, char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "%016llx%016llx", (unsigned long long)key->first,
                   (unsigned long long)key->second); // Fits.
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

static int open_folder(const struct gpu_host *host)
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
    return enter(enter(base, "tapml"), host->domain);
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

// -- Loading and storing -----------------------------------------------------------------------

static int read_file(const struct gpu_host *host,
                     const struct gpu_cache_key *key,
                     int fd,
                     struct gpu_text *out)
{
    struct cache_head head;
    struct stat info;

    if (!is_private(fd, S_IFREG) || fstat(fd, &info) != 0 || !read_whole(fd, &head, sizeof(head)) ||
        head.size == 0 || head.size > data_bytes_max ||
        (uint64_t)info.st_size != sizeof(head) + head.size) {
        return 0;
    }
    const size_t size = (size_t)head.size;
    char *data = gpu_alloc(host, size);

    if (data != NULL && read_whole(fd, data, size)) {
        const struct cache_head expected = make_head(key, data, size);

        if (memcmp(&head, &expected, sizeof(head)) == 0) {
            *out = (struct gpu_text){data, size};
            return 1;
        }
    }
    gpu_free(host, data, size);
    return 0;
}

int gpu_cache_load(const struct gpu_host *host,
                   const struct gpu_cache_key *key,
                   struct gpu_text *out)
{
    const int folder = open_folder(host);
    char name[NAME_SIZE];
    int is_found = 0;

    if (folder < 0) {
        return 0;
    }
    name_file(key, name);
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0) {
        is_found = read_file(host, key, fd, out);
        (void)close(fd);
    }
    (void)close(folder);
    return is_found;
}

// Under a name of its own first: who reads finds the old file or the new one.
static void write_file(int folder, const struct gpu_cache_key *key, const void *data, size_t size)
{
    const struct cache_head head = make_head(key, data, size);
    char name[NAME_SIZE], part[NAME_SIZE + 32];

    name_file(key, name);
    (void)snprintf(part, sizeof(part), "%s.%ld.part", name, (long)getpid()); // Fits.
    const int fd = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR);

    if (fd < 0) {
        return;
    }
    const int is_whole = write_whole(fd, &head, sizeof(head)) && write_whole(fd, data, size);

    if (close(fd) != 0 || !is_whole || renameat(folder, part, folder, name) != 0) {
        (void)unlinkat(folder, part, 0);
    }
}

void gpu_cache_store(const struct gpu_host *host,
                     const struct gpu_cache_key *key,
                     const void *data,
                     size_t size)
{
    if (size == 0 || size > data_bytes_max) {
        return;
    }
    const int folder = open_folder(host);

    if (folder >= 0) {
        write_file(folder, key, data, size);
        (void)close(folder);
    }
}
