// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A library that is loaded before all others (LD_PRELOAD) and kills its process by SIGKILL at a
// point where the files of a run change state: the last frame of a transaction in SQLite's log, a
// sync, a removal, a rename. So a test stops a program that knows nothing of it where it wants.
//
//   TAPML_KILL_IN     counts only files whose path begins so
//   TAPML_KILL_AT     the point, from 1; 0: none
//   TAPML_KILL_WHERE  `before` the call, `torn` in the middle of a write, or `after` it
//   TAPML_KILL_COUNT  a file that gets the number of points at the end
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { LOG_HEADER_BYTES = 32, LOG_PAGE_AT = 8, FRAME_HEADER_BYTES = 24, PATH_TEXT = 4096 };
enum where { BEFORE, TORN, AFTER };

static _Atomic long points;

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

// The next function of that name, which libc has.
static void find_next(const char *name, void *out_function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(out_function, &found, sizeof(found)); // ISO C has no cast from data to function.
}

static int is_watched(const char *path)
{
    const char *folder = variable("TAPML_KILL_IN");
    return *folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int path_of(int descriptor, char out[PATH_TEXT])
{
    char link[64];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, out, PATH_TEXT - 1);
    out[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

// Whether this is the point, and at which side of it the process is to end.
static int is_point(enum where *out_where)
{
    const char *where = variable("TAPML_KILL_WHERE");
    *out_where = strcmp(where, "before") == 0 ? BEFORE : strcmp(where, "torn") == 0 ? TORN : AFTER;
    return atomic_fetch_add(&points, 1) + 1 == strtol(variable("TAPML_KILL_AT"), NULL, 10);
}

static void end(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;) {
        (void)pause(); // The other threads have a moment more than this one.
    }
}

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// The header of the frame that a write ends with: in what is written, or in the file before it.
// Returns 0 if the write does not end with a frame.
static int
last_frame(int descriptor, const unsigned char *data, size_t size, off_t at, unsigned char *header)
{
    unsigned char page[4]; // Its bytes, in the header of the log.
    if (pread(descriptor, page, sizeof(page), LOG_PAGE_AT) != (ssize_t)sizeof(page)) {
        return 0;
    }
    const off_t frame = FRAME_HEADER_BYTES + (off_t)number_at(page);
    const off_t begin = at + (off_t)size - frame;
    if (size <= FRAME_HEADER_BYTES || begin < LOG_HEADER_BYTES ||
        (begin - LOG_HEADER_BYTES) % frame != 0) {
        return 0;
    }
    if (begin >= at) {
        memcpy(header, data + (begin - at), FRAME_HEADER_BYTES);
        return 1;
    }
    return pread(descriptor, header, FRAME_HEADER_BYTES, begin) == FRAME_HEADER_BYTES;
}

// A frame's header has the size of the database where it is the last of a transaction, else 0.
static int is_commit(int descriptor, const void *data, size_t size, off_t at)
{
    char path[PATH_TEXT];
    unsigned char header[FRAME_HEADER_BYTES];
    return path_of(descriptor, path) && is_watched(path) && ends_with(path, "-wal") &&
           last_frame(descriptor, data, size, at, header) && number_at(header + 4) != 0;
}

typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off_t);

static ssize_t
write_watched(pwrite_fn next, int descriptor, const void *data, size_t size, off_t at)
{
    enum where where = AFTER;
    if (is_commit(descriptor, data, size, at) && is_point(&where)) {
        (void)(where == BEFORE ? 0 : next(descriptor, data, where == TORN ? size / 2 : size, at));
        end();
    }
    return next(descriptor, data, size, at);
}

// The names of parameters are ours, those of libc begin with two underscores.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)

// With offsets of 64 bits, as all is built here, its name in libc is pwrite64.
PUBLIC ssize_t pwrite(int descriptor, const void *data, size_t size, off_t at)
{
    pwrite_fn next = NULL;
    find_next("pwrite64", &next);
    return write_watched(next, descriptor, data, size, at);
}

// What cannot be torn happens before or after.
static int around(const char *path, int (*act)(void *user), void *user)
{
    enum where where = AFTER;
    if (!is_watched(path) || !is_point(&where)) {
        return act(user);
    }
    if (where == AFTER) {
        (void)act(user);
    }
    end();
    return -1;
}

struct sync {
    int (*next)(int);
    int descriptor;
};

static int act_sync(void *user)
{
    const struct sync *sync = user;
    return sync->next(sync->descriptor);
}

static int sync_watched(const char *name, int descriptor)
{
    struct sync sync = {.descriptor = descriptor};
    char path[PATH_TEXT];
    find_next(name, &sync.next);
    return path_of(descriptor, path) ? around(path, act_sync, &sync) : act_sync(&sync);
}

PUBLIC int fsync(int descriptor)
{
    return sync_watched("fsync", descriptor);
}

PUBLIC int fdatasync(int descriptor)
{
    return sync_watched("fdatasync", descriptor);
}

struct naming {
    int (*unlink)(const char *);
    int (*rename)(const char *, const char *);
    const char *from, *to;
};

static int act_unlink(void *user)
{
    const struct naming *naming = user;
    return naming->unlink(naming->from);
}

static int act_rename(void *user)
{
    const struct naming *naming = user;
    return naming->rename(naming->from, naming->to);
}

PUBLIC int unlink(const char *path)
{
    struct naming naming = {.from = path};
    find_next("unlink", &naming.unlink);
    return around(path, act_unlink, &naming);
}

PUBLIC int rename(const char *from, const char *to)
{
    struct naming naming = {.from = from, .to = to};
    find_next("rename", &naming.rename);
    return around(to, act_rename, &naming);
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)

__attribute__((destructor)) static void write_count(void)
{
    const char *path = variable("TAPML_KILL_COUNT");
    FILE *file = *path ? fopen(path, "w") : NULL;
    if (file) {
        (void)fprintf(file, "%ld\n", atomic_load(&points));
        (void)fclose(file);
    }
}
