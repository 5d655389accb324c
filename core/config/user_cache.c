// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/user_cache.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/user_folder.h"
#include "plugin/search.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder_name[] = "tapml";

// Whether what is open belongs to this user, and no other can write it.
static int is_own(int descriptor, mode_t kind, struct stat *out_about)
{
    return fstat(descriptor, out_about) == 0 && (out_about->st_mode & S_IFMT) == kind &&
           out_about->st_uid == geteuid() && (out_about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The user's folder of caches, which may be a link of theirs; NULL where there is none.
static char *find_caches(void)
{
    char *caches = NULL;

    return search_is_secure() || user_folder_find(USER_FOLDER_CACHE, "", &caches) != TAPML_OK
               ? NULL
               : caches;
}

// Our folder in it, made if need be; -1: none that can be trusted.
static int open_folder(int makes)
{
    struct stat about;
    char *caches = find_caches();

    if (caches == NULL) {
        return -1;
    }
    if (makes) {
        (void)mkdir(caches, 0700);
    }
    const int outer = open(caches, O_PATH | O_DIRECTORY | O_CLOEXEC);

    alloc_free(caches);
    if (outer < 0) {
        return -1;
    }
    if (makes) {
        (void)mkdirat(outer, folder_name, 0700);
    }
    const int inner = openat(outer, folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    close(outer);
    if (inner >= 0 && !is_own(inner, S_IFDIR, &about)) {
        close(inner);
        return -1;
    }
    return inner;
}

static char *read_whole(int folder, const char *name, size_t bytes_max, size_t *out_size)
{
    struct stat about;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int is_right = file >= 0 && is_own(file, S_IFREG, &about) && about.st_nlink == 1 &&
                         about.st_size >= 0 && (uint64_t)about.st_size <= bytes_max;
    char *data = is_right ? alloc_array(bytes_max + 1, 1) : NULL;
    const ssize_t size = data != NULL ? read(file, data, bytes_max) : -1;

    if (file >= 0) {
        close(file);
    }
    if (size < 0) {
        alloc_free(data);
        return NULL;
    }
    data[size] = '\0';
    *out_size = (size_t)size;
    return data;
}

char *user_cache_read(const char *name, size_t bytes_max, size_t *out_size)
{
    const int folder = open_folder(0);
    char *data = folder >= 0 ? read_whole(folder, name, bytes_max, out_size) : NULL;

    if (folder >= 0) {
        close(folder);
    }
    return data;
}

static int write_all(int file, const struct text *text)
{
    return !text->failed && write(file, text->data, text->length) == (ssize_t)text->length;
}

// Under another name first, so that a reader finds a whole file or none.
static int write_whole(int folder, const char *name, const struct text *text)
{
    char fresh[64];
    int is_written = 0;

    (void)snprintf(fresh, sizeof(fresh), ".%s.%ld", name, (long)getpid());
    (void)unlinkat(folder, fresh, 0); // Of a process of this number that was killed.
    const int file =
        openat(folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (file >= 0) {
        is_written = write_all(file, text);
        is_written = close(file) == 0 && is_written && renameat(folder, fresh, folder, name) == 0;
        if (!is_written) {
            (void)unlinkat(folder, fresh, 0);
        }
    }
    return is_written;
}

int user_cache_write(const char *name, const struct text *text)
{
    const int folder = open_folder(1);
    const int is_written = folder >= 0 && write_whole(folder, name, text);

    if (folder >= 0) {
        close(folder);
    }
    return is_written;
}

void user_cache_remove(const char *name)
{
    const int folder = open_folder(0);

    if (folder >= 0) {
        (void)unlinkat(folder, name, 0);
        close(folder);
    }
}

const char *user_cache_path(const char *name, struct arena *arena)
{
    char *caches = find_caches();
    const char *path =
        caches != NULL ? arena_format(arena, "%s/%s/%s", caches, folder_name, name) : NULL;

    alloc_free(caches);
    return path;
}
