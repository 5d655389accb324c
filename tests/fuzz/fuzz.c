// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 2048, NAMES_MAX = 16 };

static size_t live;
static int memory = -1;
static char folder[64];
static char names[NAMES_MAX][64]; // Of what is to be removed with the folder.
static int name_count;

_Noreturn void fuzz_broken(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
    abort();
}

int fuzz_refused(tapml_status status)
{
    FUZZ_CHECK(status == TAPML_OK || status_message()[0] != '\0');
    FUZZ_CHECK(status != TAPML_INTERNAL);
    return status != TAPML_OK;
}

void fuzz_begin(void)
{
    live = alloc_live();
}

void fuzz_end(void)
{
    FUZZ_CHECK(alloc_live() == live);
}

static int memory_file(void)
{
    if (memory < 0) {
        memory = memfd_create("fuzz", 0);
        FUZZ_CHECK(memory >= 0);
    }
    return memory;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[PATH_BYTES];
    const int file = memory_file();
    FUZZ_CHECK(ftruncate(file, 0) == 0);
    FUZZ_CHECK(size == 0 || pwrite(file, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    return path;
}

static void remove_folder(void)
{
    for (int i = 0; i < name_count; i++) {
        (void)unlink(fuzz_path(names[i])); // It may be gone.
    }
    (void)rmdir(folder);
}

// In memory where the system offers it: a store is written and synced for each input.
const char *fuzz_folder(void)
{
    if (folder[0] == '\0') {
        snprintf(folder, sizeof(folder), "%s/tapml-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        FUZZ_CHECK(mkdtemp(folder) != NULL);
        FUZZ_CHECK(atexit(remove_folder) == 0);
    }
    return folder;
}

const char *fuzz_path(const char *name)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
    return path;
}

static void note_name(const char *name)
{
    for (int i = 0; i < name_count; i++) {
        if (strcmp(names[i], name) == 0) {
            return;
        }
    }
    FUZZ_CHECK(name_count < NAMES_MAX);
    snprintf(names[name_count++], sizeof(names[0]), "%s", name);
}

void fuzz_link(const char *name)
{
    char target[PATH_BYTES];
    note_name(name);
    snprintf(target, sizeof(target), "/proc/self/fd/%d", memory_file());
    FUZZ_CHECK(symlink(target, fuzz_path(name)) == 0);
}

void fuzz_write(const char *name, const void *data, size_t size)
{
    note_name(name);
    const int file = open(fuzz_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(file >= 0);
    FUZZ_CHECK(size == 0 || write(file, data, size) == (ssize_t)size);
    FUZZ_CHECK(close(file) == 0);
}
