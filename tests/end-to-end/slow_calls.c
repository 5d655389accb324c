// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A library that is loaded before all others (LD_PRELOAD) and lets calls of tapml-host take longer,
// as a slow disk, a slow processor or a long way does. Its workers, which have it too, are as fast
// as ever. Microseconds, none where the variable is absent:
//
//   TAPML_SLOW_READ    each read of a page of a store
//   TAPML_SLOW_DECODE  each content of a store that is unpacked
//   TAPML_SLOW_RECORD  each write to the log of a store, and each sync
//   TAPML_SLOW_ANSWER  each answer of a worker
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { PATH_TEXT = 4096, MICROSECOND_NS = 1000, SECOND_US = 1000000 };

// The next function of that name.
static void find_next(const char *name, void *out_function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(out_function, &found, sizeof(found)); // ISO C has no cast from data to function.
}

static void rest(const char *variable)
{
    const char *value = getenv(variable);
    const long time_us = value ? strtol(value, NULL, 10) : 0;
    const int error = errno;
    if (time_us > 0 && strcmp(program_invocation_short_name, "tapml-host") == 0) {
        (void)nanosleep(&(struct timespec){.tv_sec = time_us / SECOND_US,
                                           .tv_nsec = time_us % SECOND_US * MICROSECOND_NS},
                        NULL);
    }
    errno = error;
}

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static int is_of_store(int descriptor, const char *end)
{
    char link[64], found[PATH_TEXT];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, found, PATH_TEXT - 1);
    found[length > 0 ? length : 0] = '\0';
    return ends_with(found, end);
}

// The names of parameters are ours, those of libc begin with two underscores.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)

PUBLIC ssize_t pread(int descriptor, void *data, size_t size, off_t at)
{
    ssize_t (*next)(int, void *, size_t, off_t) = NULL;
    find_next("pread64", &next);
    if (is_of_store(descriptor, ".tapmlrun")) {
        rest("TAPML_SLOW_READ");
    }
    return next(descriptor, data, size, at);
}

PUBLIC ssize_t pwrite(int descriptor, const void *data, size_t size, off_t at)
{
    ssize_t (*next)(int, const void *, size_t, off_t) = NULL;
    find_next("pwrite64", &next);
    if (is_of_store(descriptor, ".tapmlrun-wal")) {
        rest("TAPML_SLOW_RECORD");
    }
    return next(descriptor, data, size, at);
}

PUBLIC int fdatasync(int descriptor)
{
    int (*next)(int) = NULL;
    find_next("fdatasync", &next);
    rest("TAPML_SLOW_RECORD");
    return next(descriptor);
}

// Whether something was sent since the last answer: what comes behind that has been on its way
// with it.
static _Thread_local int is_asked;

PUBLIC ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    ssize_t (*next)(int, const struct msghdr *, int) = NULL;
    find_next("sendmsg", &next);
    is_asked = 1;
    return next(descriptor, message, flags);
}

PUBLIC ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    ssize_t (*next)(int, struct msghdr *, int) = NULL;
    find_next("recvmsg", &next);
    const ssize_t size = next(descriptor, message, flags);
    if (size > 0 && is_asked) {
        is_asked = 0;
        rest("TAPML_SLOW_ANSWER");
    }
    return size;
}

PUBLIC size_t ZSTD_decompress(void *data, size_t bytes, const void *packed, size_t size);

PUBLIC size_t ZSTD_decompress(void *data, size_t bytes, const void *packed, size_t size)
{
    size_t (*next)(void *, size_t, const void *, size_t) = NULL;
    find_next("ZSTD_decompress", &next);
    rest("TAPML_SLOW_DECODE");
    return next(data, bytes, packed, size);
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
