// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/piece_cache.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE_S = 3600 }; // A file that was begun so long ago is not finished any more.

struct piece_cache {
    int folder;
    uint64_t bytes, bytes_max;
    struct hash *hashes;
    size_t count, capacity;
};

struct piece_found {
    struct hash hash;
    uint64_t bytes;
    struct timespec used;
};

static tapml_status note(struct piece_cache *pieces, struct hash hash, uint64_t bytes)
{
    void *hashes = pieces->hashes;

    if (!alloc_grow(&hashes, &pieces->capacity, pieces->count, sizeof(*pieces->hashes))) {
        return status_no_memory();
    }
    pieces->hashes = hashes;
    pieces->hashes[pieces->count++] = hash;
    pieces->bytes += bytes;
    return TAPML_OK;
}

// -- Opening -----------------------------------------------------------------------------------

// The newest first.
static int compare_found(const void *left, const void *right)
{
    const struct timespec *a = &((const struct piece_found *)left)->used;
    const struct timespec *b = &((const struct piece_found *)right)->used;

    if (a->tv_sec != b->tv_sec) {
        return a->tv_sec < b->tv_sec ? 1 : -1;
    }
    return a->tv_nsec < b->tv_nsec ? 1 : a->tv_nsec > b->tv_nsec ? -1 : 0;
}

// Whether it is "HASH.PROCESS", a piece that is being written.
static int is_unfinished(const char *name)
{
    char begin[HASH_TEXT] = "";
    struct hash hash;
    const size_t length = strlen(name);

    if (length <= HASH_TEXT || name[HASH_TEXT - 1] != '.' ||
        strspn(name + HASH_TEXT, "0123456789") != length - HASH_TEXT) {
        return 0;
    }
    memcpy(begin, name, HASH_TEXT - 1);
    return hash_parse(begin, &hash);
}

// Removes what a process that was killed has left.
static void remove_if_stale(const struct piece_cache *pieces, const char *name)
{
    struct stat about;

    if (is_unfinished(name) && fstatat(pieces->folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        about.st_mtime + STALE_S < time(NULL)) {
        (void)unlinkat(pieces->folder, name, 0);
    }
}

static tapml_status
find_all(const struct piece_cache *pieces, struct piece_found **io_found, size_t *io_count)
{
    const int copy = fcntl(pieces->folder, F_DUPFD_CLOEXEC, 0);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    size_t capacity = 0;
    tapml_status status = TAPML_OK;

    if (folder == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "a cache cannot be read: %s", strerror(errno));
    }
    for (const struct dirent *entry = NULL;
         status == TAPML_OK && (entry = readdir(folder)) != NULL;) {
        struct stat about;
        struct hash hash;
        void *found = *io_found;

        remove_if_stale(pieces, entry->d_name);
        if (!hash_parse(entry->d_name, &hash) ||
            fstatat(pieces->folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode)) {
            continue;
        }
        if (!alloc_grow(&found, &capacity, *io_count, sizeof(**io_found))) {
            status = status_no_memory();
            break;
        }
        *io_found = found;
        (*io_found)[(*io_count)++] =
            (struct piece_found){hash, (uint64_t)about.st_size, about.st_mtim};
    }
    (void)closedir(folder);
    return status;
}

static tapml_status take_all(struct piece_cache *pieces)
{
    struct piece_found *found = NULL;
    size_t count = 0;
    tapml_status status = find_all(pieces, &found, &count);

    if (count > 0) {
        qsort(found, count, sizeof(*found), compare_found);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        if (found[i].bytes <= pieces->bytes_max - pieces->bytes) {
            status = note(pieces, found[i].hash, found[i].bytes);
        } else {
            char name[HASH_TEXT];

            hash_text(found[i].hash, name);
            (void)unlinkat(pieces->folder, name, 0);
        }
    }
    alloc_free(found);
    return status;
}

tapml_status
piece_cache_open(const char *folder, uint64_t bytes_max, struct piece_cache **out_pieces)
{
    TAPML_TRY(file_make_folder(folder));
    struct piece_cache *pieces = alloc_new(sizeof(*pieces));

    if (pieces == NULL) {
        return status_no_memory();
    }
    pieces->bytes_max = bytes_max;
    pieces->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const tapml_status status =
        pieces->folder >= 0 ? take_all(pieces)
                            : status_fail(TAPML_UNAVAILABLE, "%s: %s", folder, strerror(errno));

    if (status != TAPML_OK) {
        piece_cache_close(pieces);
        return status;
    }
    *out_pieces = pieces;
    return TAPML_OK;
}

void piece_cache_close(struct piece_cache *pieces)
{
    if (pieces != NULL) {
        if (pieces->folder >= 0) {
            close(pieces->folder);
        }
        alloc_free(pieces->hashes);
        alloc_free(pieces);
    }
}

const struct hash *piece_cache_list(const struct piece_cache *pieces, size_t *out_count)
{
    *out_count = pieces->count;
    return pieces->hashes;
}

// -- Pieces ------------------------------------------------------------------------------------

static int read_whole(int file, void *out_bytes, size_t size)
{
    unsigned char *at = out_bytes;
    size_t done = 0;
    ssize_t part = 1;

    while (done < size && part > 0) {
        part = read(file, at + done, size - done);
        done += part > 0 ? (size_t)part : 0;
    }
    return done == size;
}

tapml_status
piece_cache_get(struct piece_cache *pieces, struct hash hash, void *out_bytes, size_t size)
{
    char name[HASH_TEXT];

    hash_text(hash, name);
    const int file = openat(pieces->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat about;

    if (file < 0) {
        return status_fail(TAPML_NOT_FOUND, "the piece %s is not there", name);
    }
    const int is_right = fstat(file, &about) == 0 && about.st_size == (off_t)size &&
                         read_whole(file, out_bytes, size) &&
                         hash_equal(hash_bytes(out_bytes, size), hash);

    if (is_right) {
        (void)futimens(file, NULL); // It was used now.
    } else {
        (void)unlinkat(pieces->folder, name, 0);
    }
    close(file);
    return is_right ? TAPML_OK : status_fail(TAPML_NOT_FOUND, "the piece %s is damaged", name);
}

// Under another name first: no process sees a part of it.
static int
write_whole(const struct piece_cache *pieces, const char *name, const void *bytes, size_t size)
{
    char temporary[HASH_TEXT + 32];

    (void)snprintf(temporary, sizeof(temporary), "%s.%ld", name, (long)getpid());
    const int file =
        openat(pieces->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (file < 0) {
        return 0;
    }
    const int is_written = write(file, bytes, size) == (ssize_t)size;
    const int is_closed = close(file) == 0;

    if (is_written && is_closed && renameat(pieces->folder, temporary, pieces->folder, name) == 0) {
        return 1;
    }
    (void)unlinkat(pieces->folder, temporary, 0);
    return 0;
}

tapml_status piece_cache_put(
    struct piece_cache *pieces, struct hash hash, const void *bytes, size_t size, int *out_is_kept)
{
    char name[HASH_TEXT];

    hash_text(hash, name);
    *out_is_kept =
        size <= pieces->bytes_max - pieces->bytes && write_whole(pieces, name, bytes, size);
    return *out_is_kept ? note(pieces, hash, size) : TAPML_OK;
}
