// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include "base/alloc.h"
#include "base/descriptors.h"
#include "base/mapping.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// "the disk is full", with what is left of it where that is known.
static void explain_full_disk(const char *path, char out_why[FILE_WHY_TEXT])
{
    struct statvfs about;
    char left[48] = "";
    char *folder = file_folder(path);
    if (folder && statvfs(folder, &about) == 0) {
        (void)snprintf(left, sizeof(left), " (%llu bytes are free)",
                       (unsigned long long)about.f_bavail * about.f_frsize);
    }
    alloc_free(folder);
    (void)snprintf(out_why, FILE_WHY_TEXT, "the disk is full%s", left);
}

int file_is_full(int error, const char *path, char out_why[FILE_WHY_TEXT])
{
    struct rlimit limit = {.rlim_cur = 0};
    switch (error) {
    case ENOSPC:
        explain_full_disk(path, out_why);
        return 1;
    case EDQUOT:
        (void)snprintf(out_why, FILE_WHY_TEXT, "the disk quota is used up");
        return 1;
    case EFBIG:
        (void)getrlimit(RLIMIT_FSIZE, &limit); // Cannot fail on a limit that exists.
        (void)snprintf(out_why, FILE_WHY_TEXT,
                       "the limit on the size of files (ulimit -f) of %llu bytes is reached",
                       (unsigned long long)limit.rlim_cur);
        return 1;
    default:
        return 0;
    }
}

static tapml_status system_failed(const char *path, const char *what)
{
    const int error = errno;
    char why[FILE_WHY_TEXT], open_files[DESCRIPTORS_WHY_TEXT];
    if (file_is_full(error, path, why)) { // Not the fault of the name.
        return status_fail(TAPML_UNAVAILABLE, "%s: cannot %s: %s", path, what, why);
    }
    if (error == EMFILE) { // Nor this.
        return status_fail(TAPML_UNAVAILABLE, "%s: cannot %s: %s", path, what,
                           descriptors_why(error, open_files));
    }
    return status_fail(error == ENOENT ? TAPML_NOT_FOUND : TAPML_INVALID, "%s: cannot %s: %s", path,
                       what, strerror(error));
}

static const char *kind_name(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a folder";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
    case S_IFBLK:
        return "a device";
    default:
        return "something else";
    }
}

static tapml_status expect_regular(const char *path, const struct stat *about)
{
    return S_ISREG(about->st_mode) ? TAPML_OK
                                   : status_fail(TAPML_INVALID, "%s: expected a file, found %s",
                                                 path, kind_name(about->st_mode));
}

static tapml_status open_to_read(const char *path, int *out_descriptor, struct stat *out_about)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return system_failed(path, "open");
    }
    if (fstat(descriptor, out_about) != 0) {
        const tapml_status status = system_failed(path, "ask about it");
        close(descriptor);
        return status;
    }
    const tapml_status status = expect_regular(path, out_about);
    if (status != TAPML_OK) {
        close(descriptor);
        return status;
    }
    *out_descriptor = descriptor;
    return TAPML_OK;
}

tapml_status file_expect(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? expect_regular(path, &about) : TAPML_OK;
}

tapml_status file_map(const char *path, struct file_map *out_map)
{
    int descriptor = -1;
    struct stat about = {0};
    TAPML_TRY(open_to_read(path, &descriptor, &about));
    void *data = NULL;
    if (about.st_size > 0) {
        data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    if (!data) {
        close(descriptor);
        *out_map = (struct file_map){.descriptor = -1};
        return TAPML_OK;
    }
    tapml_status status = data == MAP_FAILED ? system_failed(path, "map") : TAPML_OK;
    if (status == TAPML_OK) {
        status = mapping_watch(data, (size_t)about.st_size, descriptor, path);
        if (status != TAPML_OK) {
            munmap(data, (size_t)about.st_size);
        }
    }
    if (status != TAPML_OK) {
        close(descriptor);
        return status;
    }
    *out_map = (struct file_map){data, (size_t)about.st_size, descriptor};
    return TAPML_OK;
}

void file_unmap(struct file_map *map)
{
    if (map && map->data) {
        mapping_forget(map->data);
        munmap((void *)(uintptr_t)map->data, map->size);
        close(map->descriptor);
        *map = (struct file_map){.descriptor = -1};
    }
}

void file_map_expect(const struct file_map *map, enum file_reading reading)
{
    if (map->data) {
        (void)posix_madvise((void *)(uintptr_t)map->data, map->size,
                            reading == FILE_READ_SAMPLES ? POSIX_MADV_RANDOM : POSIX_MADV_NORMAL);
    }
}

void file_map_leave(const struct file_map *map, const void *data, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)map->data;
    const uintptr_t begin = ((uintptr_t)data + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)data + size) / page * page;
    if (map->data && (uintptr_t)data >= first && end <= first + map->size && begin < end) {
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
}

// Reads up to `size` bytes; less only at the end of the file. -1: the system said no.
static int64_t read_all(int descriptor, char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = read(descriptor, data + done, size - done);
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        if (count == 0) {
            break;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return (int64_t)done;
}

static tapml_status
read_opened(const char *path, int descriptor, size_t size, char **out_data, size_t *out_size)
{
    char *data = alloc_new(size + 1);
    if (!data) {
        return status_no_memory();
    }
    const int64_t count = read_all(descriptor, data, size);
    if (count < 0) {
        const tapml_status status = system_failed(path, "read");
        alloc_free(data);
        return status;
    }
    *out_data = data;
    *out_size = (size_t)count;
    return TAPML_OK;
}

tapml_status file_read(const char *path, size_t size_max, char **out_data, size_t *out_size)
{
    int descriptor = -1;
    struct stat about = {0};
    TAPML_TRY(open_to_read(path, &descriptor, &about));
    tapml_status status = TAPML_OK;
    if ((uint64_t)about.st_size > size_max) {
        status = status_fail(TAPML_INVALID, "%s: expected at most %zu bytes, found %lld", path,
                             size_max, (long long)about.st_size);
    } else {
        status = read_opened(path, descriptor, (size_t)about.st_size, out_data, out_size);
    }
    close(descriptor);
    return status;
}

static int write_all(int descriptor, const char *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = write(descriptor, data + done, size - done);
        if (count < 0 && errno != EINTR) {
            return 0;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return 1;
}

static tapml_status
write_and_rename(const char *path, const char *beside, const void *data, size_t size)
{
    char what[48];
    (void)snprintf(what, sizeof(what), "write its %zu bytes", size);
    const int descriptor =
        open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return system_failed(path, what);
    }
    const int written = write_all(descriptor, data, size) && fsync(descriptor) == 0;
    tapml_status status = written ? TAPML_OK : system_failed(path, what);
    if (close(descriptor) != 0 && status == TAPML_OK) {
        status = system_failed(path, what);
    }
    if (status == TAPML_OK && rename(beside, path) != 0) {
        status = system_failed(path, "rename to it");
    }
    if (status != TAPML_OK) {
        (void)unlink(beside); // What failed is already known.
    }
    return status;
}

// What is neither a file nor a folder takes bytes as they come: a device, a pipe, or what the
// standard output is, by whatever name. Another name for it would replace it.
static int is_taken_in_place(const char *path, int *out_is_standard)
{
    struct stat about, standard;
    const int is_there = stat(path, &about) == 0;

    *out_is_standard = is_there && fstat(STDOUT_FILENO, &standard) == 0 &&
                       about.st_dev == standard.st_dev && about.st_ino == standard.st_ino;
    return *out_is_standard || (is_there && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
}

// Behind what the program has printed itself, where it is the standard output.
static tapml_status write_in_place(const char *path, int is_standard, const void *data, size_t size)
{
    char what[48];
    (void)snprintf(what, sizeof(what), "write its %zu bytes", size);
    const int descriptor =
        is_standard ? STDOUT_FILENO : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    const int is_written = descriptor >= 0 && (!is_standard || fflush(stdout) == 0) &&
                           write_all(descriptor, data, size);
    tapml_status status = is_written ? TAPML_OK : system_failed(path, what);
    if (descriptor >= 0 && !is_standard && close(descriptor) != 0 && status == TAPML_OK) {
        status = system_failed(path, what);
    }
    return status;
}

// Under what name a file is written before it has its own; the process's number keeps two writers
// apart. Freed by alloc_free; NULL where there is no memory.
static char *name_beside(const char *path)
{
    const size_t size = strlen(path) + 32;
    char *beside = alloc_new(size);
    if (beside) {
        (void)snprintf(beside, size, "%s.%ld.part", path, (long)getpid());
    }
    return beside;
}

tapml_status file_write(const char *path, const void *data, size_t size)
{
    int is_standard = 0;
    if (is_taken_in_place(path, &is_standard)) {
        return write_in_place(path, is_standard, data, size);
    }
    char *beside = name_beside(path);
    if (!beside) {
        return status_no_memory();
    }
    const tapml_status status = write_and_rename(path, beside, data, size);
    alloc_free(beside);
    return status;
}

// Makes a file of one byte, which shows whether there is room, and removes it.
static tapml_status try_beside(const char *path, const char *beside)
{
    const int descriptor =
        open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return system_failed(path, "write to it");
    }
    tapml_status status =
        write_all(descriptor, "", 1) ? TAPML_OK : system_failed(path, "write to it");
    if (close(descriptor) != 0 && status == TAPML_OK) {
        status = system_failed(path, "write to it");
    }
    (void)unlink(beside); // It was for trying.
    return status;
}

// Nothing is written: a device that has no room says so all the same. A pipe that nobody reads yet
// would have to be waited for.
static tapml_status try_in_place(const char *path, int is_standard)
{
    const int descriptor =
        is_standard ? STDOUT_FILENO : open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return errno == ENXIO ? TAPML_OK : system_failed(path, "write to it");
    }
    const tapml_status status =
        write(descriptor, "", 0) == 0 ? TAPML_OK : system_failed(path, "write to it");
    if (!is_standard) {
        (void)close(descriptor); // Nothing was written.
    }
    return status;
}

tapml_status file_try_writing(const char *path)
{
    int is_standard = 0;
    if (file_is_folder(path)) {
        return status_fail(TAPML_INVALID, "%s: expected a file to write, found a folder", path);
    }
    if (is_taken_in_place(path, &is_standard)) {
        return try_in_place(path, is_standard);
    }
    char *beside = name_beside(path);
    if (!beside) {
        return status_no_memory();
    }
    const tapml_status status = try_beside(path, beside);
    alloc_free(beside);
    return status;
}

// Has what was written reach the disk: a file's bytes, or the names in a folder.
static int sync_path(const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const int is_synced = descriptor >= 0 && fsync(descriptor) == 0;
    if (descriptor >= 0) {
        close(descriptor);
    }
    return is_synced;
}

tapml_status file_move(const char *from, const char *to)
{
    char *folder = file_folder(to);
    if (!folder) {
        return status_no_memory();
    }
    const int is_moved = sync_path(from) && rename(from, to) == 0 && sync_path(folder);
    alloc_free(folder);
    return is_moved ? TAPML_OK : system_failed(to, "move a file there");
}

void file_remove_all(const char *folder, const char *glob)
{
    DIR *list = opendir(folder);
    const struct dirent *entry = list ? readdir(list) : NULL;
    for (; entry; entry = readdir(list)) {
        char *path = text_glob(glob, entry->d_name) ? file_join(folder, entry->d_name) : NULL;
        if (path) {
            (void)unlink(path);
        }
        alloc_free(path);
    }
    if (list) {
        (void)closedir(list);
    }
}

int file_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

int file_is_link(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

int file_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static tapml_status make_one(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && file_is_folder(path))) {
        return TAPML_OK;
    }
    if (errno == EEXIST) {
        return status_fail(TAPML_INVALID, "%s: expected a folder, found a file", path);
    }
    return system_failed(path, "make the folder");
}

tapml_status file_make_folder(const char *path)
{
    char *partial = alloc_text(path);
    if (!partial) {
        return status_no_memory();
    }
    tapml_status status = TAPML_OK;
    for (char *at = partial; *at && status == TAPML_OK; ++at) {
        if (*at == '/' && at > partial) {
            *at = '\0';
            status = make_one(partial);
            *at = '/';
        }
    }
    if (status == TAPML_OK) {
        status = make_one(partial);
    }
    alloc_free(partial);
    return status;
}

const char *file_of_program(char *out_path, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out_path, size);
    if (length <= 0 || (size_t)length >= size) {
        return NULL;
    }
    out_path[length] = '\0';
    return out_path;
}

char *file_join(const char *folder, const char *name)
{
    const size_t folder_length = strlen(folder);
    if (name[0] == '/' || folder_length == 0) {
        return alloc_text(name);
    }
    const size_t size = folder_length + strlen(name) + 2;
    char *path = alloc_new(size);
    if (path) {
        const char *between = folder[folder_length - 1] == '/' ? "" : "/";
        snprintf(path, size, "%s%s%s", folder, between, name);
    }
    return path;
}

char *file_folder(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        --length;
    }
    while (length > 0 && path[length - 1] != '/') {
        --length;
    }
    while (length > 1 && path[length - 1] == '/') {
        --length;
    }
    if (length == 0) {
        return alloc_text(".");
    }
    char *folder = alloc_new(length + 1);
    if (folder) {
        memcpy(folder, path, length);
    }
    return folder;
}
