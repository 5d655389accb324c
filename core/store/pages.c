// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/pages.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/stages.h"
#include "store/log_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Of SQLite's file format, section 1.3.
enum {
    SIZE_AT = 16,
    RESERVED_AT = 20,
    COUNT_AT = 28,
    PAGE_BYTES_MIN = 512,
    PAGE_BYTES_DEFAULT = 4096,
    PAGE_BYTES_MAX = 65536
};
static const char MAGIC[16] = "SQLite format 3";

struct pages {
    sqlite3_vfs vfs;
    sqlite3_vfs *system;
    char name[32];
    int has_sums;
    int64_t damaged;
    int write_error;
    struct log_buffer log; // What is not yet written to the log.
    struct pages_replacement replacement;
};

// Of the locks in the memory that is shared for a log, in SQLite's file format: the writer's.
enum { WRITE_LOCK = 0 };

// The system's file follows behind it.
struct file {
    sqlite3_file base;
    struct pages *pages;
    int is_database;
    int is_log;
    int is_alone; // It has a log and nothing that is shared with other readers of that.
    int has_sums;
    int page_bytes;
    unsigned char *page; // To write from, with its checksum.
};

static sqlite3_file *inner_of(sqlite3_file *file)
{
    return (sqlite3_file *)((struct file *)file + 1);
}

// -- Checksums ---------------------------------------------------------------------------------

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void sum_of(const unsigned char *page, int page_bytes, int64_t number, unsigned char *out)
{
    const struct hash hash = hash_bytes(page, (size_t)page_bytes - PAGES_SUM_BYTES);
    // A page that stands where another one belongs is damaged too.
    const uint64_t sum = hash.low + (uint64_t)number * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < PAGES_SUM_BYTES; i++) {
        out[i] = (unsigned char)(sum >> (8 * i));
    }
}

static int size_in(const unsigned char *header)
{
    const int size = header[SIZE_AT] << 8 | header[SIZE_AT + 1];
    return size == 1 ? PAGE_BYTES_MAX : size;
}

// Takes page size and reserved bytes from the first page.
static void learn(struct file *file, const unsigned char *header)
{
    if (memcmp(header, MAGIC, sizeof(MAGIC)) != 0) {
        return;
    }
    file->page_bytes = size_in(header);
    file->has_sums = header[RESERVED_AT] == PAGES_SUM_BYTES;
    file->pages->has_sums = file->has_sums;
}

static int is_page(const struct file *file, int size, int64_t at)
{
    return file->is_database && file->has_sums && size == file->page_bytes && at % size == 0;
}

static int damaged(struct file *file, int64_t number)
{
    if (file->pages->damaged == 0) {
        file->pages->damaged = number;
    }
    return SQLITE_IOERR_DATA;
}

// Compares the checksum of a page that was read, and takes it away: SQLite sees zeros there, and
// writes zeros to its log and its journal. So a program that brings the log into the database
// without this layer, as the `sqlite3` shell does after a crash, leaves zeros too, and not another
// page's sum.
static int take_sum(unsigned char *page, int page_bytes, int64_t number)
{
    static const unsigned char none[PAGES_SUM_BYTES];
    unsigned char sum[PAGES_SUM_BYTES];
    unsigned char *end = page + page_bytes - PAGES_SUM_BYTES;
    sum_of(page, page_bytes, number, sum);
    const int is_right = memcmp(end, sum, sizeof(sum)) == 0 || memcmp(end, none, sizeof(none)) == 0;
    memset(end, 0, PAGES_SUM_BYTES);
    return is_right;
}

// What the system said of a call that failed.
static int note(sqlite3_file *base, int code)
{
    if (code != SQLITE_OK) {
        ((struct file *)base)->pages->write_error = code == SQLITE_FULL ? ENOSPC : errno;
    }
    return code;
}

// Before all else that is done with a log.
static int flush(sqlite3_file *base)
{
    struct file *file = (struct file *)base;
    return file->is_log ? note(base, log_buffer_flush(&file->pages->log, inner_of(base)))
                        : SQLITE_OK;
}

// Whether what is read lies in a page that is replaced.
static int read_replaced(struct file *file, void *data, int size, sqlite3_int64 at)
{
    const struct pages_replacement *replacement = &file->pages->replacement;
    if (!file->is_database || replacement->count == 0 || size > replacement->page_bytes) {
        return 0;
    }
    const int64_t page = at / replacement->page_bytes;
    if (page >= replacement->count || (replacement->mask >> page & 1) == 0) {
        return 0;
    }
    memcpy(data, replacement->bytes + at, (size_t)size);
    if (at == 0 && size >= PAGES_HEADER_BYTES) {
        learn(file, data);
    }
    return 1;
}

static int read_file(sqlite3_file *base, void *data, int size, sqlite3_int64 at)
{
    struct file *file = (struct file *)base;
    if (read_replaced(file, data, size, at)) {
        return SQLITE_OK;
    }
    const int flushed = flush(base);
    if (flushed != SQLITE_OK) {
        return flushed;
    }
    const enum stages_kind before = stages_enter(STAGES_READ);
    const int code = inner_of(base)->pMethods->xRead(inner_of(base), data, size, at);
    stages_return(before, (uint64_t)size);
    if (code == SQLITE_OK && file->is_database && at == 0 && size >= PAGES_HEADER_BYTES) {
        learn(file, data);
    }
    if (!is_page(file, size, at)) {
        return code;
    }
    if (code == SQLITE_IOERR_SHORT_READ) { // The file ends before a page that it should have.
        return at > 0 ? damaged(file, at / size + 1) : code;
    }
    return code == SQLITE_OK && !take_sum(data, size, at / size + 1) ? damaged(file, at / size + 1)
                                                                     : code;
}

static int write_bytes(sqlite3_file *base, const void *data, int size, sqlite3_int64 at)
{
    struct file *file = (struct file *)base;
    sqlite3_file *inner = inner_of(base);
    if (file->is_database && at == 0 && size >= PAGES_HEADER_BYTES) {
        learn(file, data);
    }
    if (file->is_log) {
        return note(base, log_buffer_write(&file->pages->log, inner, data, size, at));
    }
    if (!is_page(file, size, at)) {
        return note(base, inner->pMethods->xWrite(inner, data, size, at));
    }
    if (!file->page) {
        file->page = alloc_new(PAGE_BYTES_MAX);
    }
    if (!file->page) {
        return SQLITE_NOMEM;
    }
    memcpy(file->page, data, (size_t)size);
    sum_of(file->page, size, at / size + 1, file->page + size - PAGES_SUM_BYTES);
    return note(base, inner->pMethods->xWrite(inner, file->page, size, at));
}

static int write_file(sqlite3_file *base, const void *data, int size, sqlite3_int64 at)
{
    const enum stages_kind before = stages_enter(STAGES_RECORD);
    const int code = write_bytes(base, data, size, at);
    stages_return(before, (uint64_t)size);
    return code;
}

// As many bytes as the header says there are.
static int64_t replaced_bytes(const struct pages_replacement *replacement)
{
    return (int64_t)number_at(replacement->bytes + COUNT_AT) * replacement->page_bytes;
}

// -- What the system does ----------------------------------------------------------------------

static int close_file(sqlite3_file *base)
{
    struct file *file = (struct file *)base;
    if (file->is_log) {
        log_buffer_release(&file->pages->log);
    }
    alloc_free(file->page);
    return inner_of(base)->pMethods->xClose(inner_of(base));
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    const int code = flush(base);
    return code != SQLITE_OK
               ? code
               : note(base, inner_of(base)->pMethods->xTruncate(inner_of(base), size));
}

static int sync_file(sqlite3_file *base, int flags)
{
    const enum stages_kind before = stages_enter(STAGES_RECORD);
    int code = flush(base);
    code = code == SQLITE_OK ? note(base, inner_of(base)->pMethods->xSync(inner_of(base), flags))
                             : code;
    stages_return(before, 0);
    return code;
}

static int size_of_file(sqlite3_file *base, sqlite3_int64 *out_size)
{
    const struct file *file = (const struct file *)base;
    const int flushed = flush(base);
    if (flushed != SQLITE_OK) {
        return flushed;
    }
    const int code = inner_of(base)->pMethods->xFileSize(inner_of(base), out_size);
    if (file->is_database && file->pages->replacement.count > 0) {
        // SQLite refuses a file that is cut; so it finds out when it reads what is gone.
        const int64_t whole = replaced_bytes(&file->pages->replacement);
        *out_size = *out_size < whole ? whole : *out_size;
    }
    return code;
}

static int lock_file(sqlite3_file *base, int kind)
{
    return inner_of(base)->pMethods->xLock(inner_of(base), kind);
}

static int unlock_file(sqlite3_file *base, int kind)
{
    return inner_of(base)->pMethods->xUnlock(inner_of(base), kind);
}

static int ask_for_lock(sqlite3_file *base, int *out_is_locked)
{
    return inner_of(base)->pMethods->xCheckReservedLock(inner_of(base), out_is_locked);
}

static int control_file(sqlite3_file *base, int operation, void *argument)
{
    return inner_of(base)->pMethods->xFileControl(inner_of(base), operation, argument);
}

static int sector_size(sqlite3_file *base)
{
    return inner_of(base)->pMethods->xSectorSize(inner_of(base));
}

static int device_characteristics(sqlite3_file *base)
{
    return inner_of(base)->pMethods->xDeviceCharacteristics(inner_of(base));
}

// Where no process has shared memory for the log, a reader makes none, which would be a file:
// SQLite then keeps the index of the log to itself, and there is nothing to lock.
static int is_alone(sqlite3_file *base)
{
    return ((const struct file *)base)->is_alone;
}

static int map_shared(sqlite3_file *base, int page, int size, int extend, void volatile **out)
{
    if (is_alone(base)) {
        *out = NULL;
        return SQLITE_READONLY_CANTINIT;
    }
    return note(base, inner_of(base)->pMethods->xShmMap(inner_of(base), page, size, extend, out));
}

static int lock_shared(sqlite3_file *base, int first, int count, int flags)
{
    if (first == WRITE_LOCK && (flags & SQLITE_SHM_UNLOCK) != 0) {
        log_buffer_drop(&((struct file *)base)->pages->log);
    }
    return is_alone(base) ? SQLITE_OK
                          : inner_of(base)->pMethods->xShmLock(inner_of(base), first, count, flags);
}

static void fence_shared(sqlite3_file *base)
{
    if (!is_alone(base)) {
        inner_of(base)->pMethods->xShmBarrier(inner_of(base));
    }
}

static int unmap_shared(sqlite3_file *base, int remove)
{
    return is_alone(base) ? SQLITE_OK : inner_of(base)->pMethods->xShmUnmap(inner_of(base), remove);
}

// The second version: without mapped pages, whose checksums would not be compared.
static const sqlite3_io_methods METHODS = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = ask_for_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = fence_shared,
    .xShmUnmap = unmap_shared,
};

// The whole path of a name whose last part is not followed where it is a link: the system then
// refuses to open it.
static int full_path(sqlite3_vfs *vfs, const char *name, int size, char *out_path)
{
    sqlite3_vfs *system = ((struct pages *)vfs)->system;
    const char *last = strrchr(name, '/');
    char *folder = file_folder(name);
    char *whole = folder ? realpath(folder, NULL) : NULL;
    alloc_free(folder);
    if (!whole) { // It says why.
        return system->xFullPathname(system, name, size, out_path);
    }
    const int length = snprintf(out_path, (size_t)size, "%s/%s",
                                strcmp(whole, "/") == 0 ? "" : whole, last ? last + 1 : name);
    free(whole); // realpath's.
    return length >= 0 && length < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int has_shared_memory(const char *name)
{
    char *path = sqlite3_mprintf("%s-shm", name);
    const int is_there = path && file_exists(path);
    sqlite3_free(path);
    return is_there;
}

static int
open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags)
{
    struct file *file = (struct file *)base;
    struct pages *pages = (struct pages *)vfs;
    *file = (struct file){.pages = pages,
                          .is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0,
                          .is_log = (flags & SQLITE_OPEN_WAL) != 0};
    file->is_alone =
        file->is_database && (flags & SQLITE_OPEN_READONLY) != 0 && !has_shared_memory(name);
    const int code = pages->system->xOpen(pages->system, name, inner_of(base), flags, out_flags);
    // A failed file is closed by SQLite too, where it has methods.
    file->base.pMethods = inner_of(base)->pMethods ? &METHODS : NULL;
    return code;
}

// -- The whole ---------------------------------------------------------------------------------

tapml_status pages_create(struct pages **out_pages)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    struct pages *pages = alloc_new(sizeof(*pages));
    if (!pages) {
        return status_no_memory();
    }
    if (!system) {
        alloc_free(pages);
        return status_fail(TAPML_UNAVAILABLE, "SQLite knows no files on this system");
    }
    pages->system = system;
    pages->vfs = *system; // All but names and opening is as the system does it.
    pages->vfs.pNext = NULL;
    pages->vfs.szOsFile = (int)sizeof(struct file) + system->szOsFile;
    pages->vfs.xOpen = open_file;
    pages->vfs.xFullPathname = full_path;
    (void)snprintf(pages->name, sizeof(pages->name), "tapml-%p", (void *)pages);
    pages->vfs.zName = pages->name;
    if (sqlite3_vfs_register(&pages->vfs, 0) != SQLITE_OK) {
        alloc_free(pages);
        return status_no_memory();
    }
    *out_pages = pages;
    return TAPML_OK;
}

void pages_destroy(struct pages *pages)
{
    if (pages) {
        (void)sqlite3_vfs_unregister(&pages->vfs); // Always SQLITE_OK.
        alloc_free(pages);
    }
}

const char *pages_vfs(const struct pages *pages)
{
    return pages->name;
}

tapml_status pages_add_sums(sqlite3 *connection)
{
    int bytes = PAGES_SUM_BYTES;
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes) == SQLITE_OK
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "this SQLite (%s) leaves no room in pages",
                             sqlite3_libversion());
}

int pages_have_sums(const struct pages *pages)
{
    return pages->has_sums;
}

int64_t pages_damaged(const struct pages *pages)
{
    return pages->damaged;
}

int pages_write_error(const struct pages *pages)
{
    return pages->write_error;
}

void pages_replace(struct pages *pages, const struct pages_replacement *replacement)
{
    pages->replacement = *replacement;
}

// -- A look at all -----------------------------------------------------------------------------

static int is_empty(const unsigned char *page, int page_bytes)
{
    return page[0] == 0 && memcmp(page, page + 1, (size_t)page_bytes - 1) == 0;
}

static int has_sum(const unsigned char *page, int page_bytes, int64_t number)
{
    unsigned char sum[PAGES_SUM_BYTES];
    sum_of(page, page_bytes, number, sum);
    return memcmp(page + page_bytes - PAGES_SUM_BYTES, sum, sizeof(sum)) == 0;
}

// The page may have been brought from the log by somebody who knows no checksums.
static int has_no_sum(const unsigned char *page, int page_bytes)
{
    static const unsigned char none[PAGES_SUM_BYTES];
    return memcmp(page + page_bytes - PAGES_SUM_BYTES, none, sizeof(none)) == 0;
}

static void note_bad(struct pages_health *health, int64_t number)
{
    if (health->bad < (int64_t)(sizeof(health->first) / sizeof(*health->first))) {
        health->first[health->bad] = number;
    }
    health->bad++;
}

// Reads up to `size` bytes and returns how many there are; a sector that the disk cannot read is
// damage like any other.
static size_t read_part(int descriptor, unsigned char *data, size_t size, off_t at)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = pread(descriptor, data + done, size - done, at + (off_t)done);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            break;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return done;
}

// Whether all of it is there.
static int read_page(int descriptor, unsigned char *page, int page_bytes, int64_t number)
{
    const size_t size = (size_t)page_bytes;
    return read_part(descriptor, page, size, (off_t)(number - 1) * page_bytes) == size;
}

static void look(int descriptor, unsigned char *page, struct pages_health *health)
{
    const int bytes = health->page_bytes;
    for (int64_t number = 1; number <= health->count; number++) {
        const int is_there = read_page(descriptor, page, bytes, number);
        const int empty = is_there && is_empty(page, bytes);
        const int right = is_there && !empty && has_sum(page, bytes, number);

        health->right += right;
        health->empty += empty;
        if (!empty && !right && !(is_there && has_no_sum(page, bytes))) {
            note_bad(health, number);
        } else if (!empty) {
            continue;
        }
        health->mask |= number <= PAGES_REPLACED_MAX ? (uint64_t)1 << (number - 1) : 0;
    }
    health->is_header_whole = (health->mask & 1) == 0;
}

// The page size of a header that may be believed, of which `page` then has all; 0: none.
static int believe(int descriptor, unsigned char *page)
{
    if (!read_page(descriptor, page, PAGES_HEADER_BYTES, 1)) {
        memset(page, 0, PAGES_HEADER_BYTES); // A part of one says nothing.
        return 0;
    }
    if (memcmp(page, MAGIC, sizeof(MAGIC)) != 0 || page[RESERVED_AT] != PAGES_SUM_BYTES) {
        return 0;
    }
    const int size = size_in(page);
    return size >= PAGE_BYTES_MIN && (size & (size - 1)) == 0 &&
                   read_page(descriptor, page, size, 1) &&
                   (has_sum(page, size, 1) || has_no_sum(page, size))
               ? size
               : 0;
}

// The size of pages by which one of `bytes` bytes at `at` is right; 0: none is.
static int right_size(const unsigned char *data, size_t bytes, int64_t at)
{
    for (int size = PAGE_BYTES_MIN; size <= PAGE_BYTES_MAX; size *= 2) {
        for (size_t done = 0; done + (size_t)size <= bytes; done += (size_t)size) {
            if (has_sum(data + done, size, (at + (int64_t)done) / size + 1)) {
                return size;
            }
        }
    }
    return 0;
}

// The size of the pages of a file that has no header.
static int guess_size(int descriptor, unsigned char *data)
{
    int size = 0;
    size_t bytes = PAGE_BYTES_MAX;
    for (int64_t at = 0; size == 0 && bytes == PAGE_BYTES_MAX; at += PAGE_BYTES_MAX) {
        bytes = read_part(descriptor, data, PAGE_BYTES_MAX, at);
        size = right_size(data, bytes, at);
    }
    return size > 0 ? size : PAGE_BYTES_DEFAULT;
}

static void
check(int descriptor, unsigned char *page, int64_t file_bytes, struct pages_health *health)
{
    const int believed = believe(descriptor, page);
    const int64_t told = believed ? (int64_t)number_at(page + COUNT_AT) : 0;
    memcpy(health->header, page, sizeof(health->header));
    health->page_bytes = believed ? believed : guess_size(descriptor, page);
    health->count = (file_bytes + health->page_bytes - 1) / health->page_bytes;
    health->count = told > health->count ? told : health->count;
    look(descriptor, page, health);
    if (!believed && health->is_header_whole) { // Its end is zeros, and the rest is no header.
        health->is_header_whole = 0;
        health->mask |= 1;
        note_bad(health, 1);
    }
}

tapml_status pages_check(const char *path, struct pages_health *out_health)
{
    struct stat about;
    struct pages_health health = {.count = 0};
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        const int error = descriptor < 0 ? errno : EINVAL;
        if (descriptor >= 0) {
            close(descriptor);
        }
        return status_fail(TAPML_INVALID, "%s: cannot read it as a store: %s", path,
                           strerror(error));
    }
    unsigned char *page = alloc_new(PAGE_BYTES_MAX);
    if (page) {
        check(descriptor, page, (int64_t)about.st_size, &health);
    }
    close(descriptor);
    alloc_free(page);
    if (!page) {
        return status_no_memory();
    }
    *out_health = health;
    return TAPML_OK;
}
