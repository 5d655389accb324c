// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/pages.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Of SQLite's file format, section 1.3.
enum { HEADER_BYTES = 100, SIZE_AT = 16, RESERVED_AT = 20, PAGE_BYTES_MAX = 65536 };
static const char MAGIC[16] = "SQLite format 3";

struct pages {
    sqlite3_vfs vfs;
    sqlite3_vfs *system;
    char name[32];
    int has_sums;
    int64_t damaged;
    int write_error;
};

// The system's file follows behind it.
struct file {
    sqlite3_file base;
    struct pages *pages;
    int is_database;
    int has_sums;
    int page_bytes;
    unsigned char *page; // To write from, with its checksum.
};

static sqlite3_file *inner_of(sqlite3_file *file)
{
    return (sqlite3_file *)((struct file *)file + 1);
}

// -- Checksums ---------------------------------------------------------------------------------

static void sum_of(const unsigned char *page, int page_bytes, int64_t number, unsigned char *out)
{
    const struct hash hash = hash_bytes(page, (size_t)page_bytes - PAGES_SUM_BYTES);
    // A page that stands where another one belongs is damaged too.
    const uint64_t sum = hash.low + (uint64_t)number * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < PAGES_SUM_BYTES; i++) {
        out[i] = (unsigned char)(sum >> (8 * i));
    }
}

// Takes page size and reserved bytes from the first page.
static void learn(struct file *file, const unsigned char *header)
{
    if (memcmp(header, MAGIC, sizeof(MAGIC)) != 0) {
        return;
    }
    const int size = header[SIZE_AT] << 8 | header[SIZE_AT + 1];
    file->page_bytes = size == 1 ? PAGE_BYTES_MAX : size;
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
// writes zeros to its log and its journal. So whoever brings the log into the database without this
// layer, as the `sqlite3` shell does after a crash, leaves zeros too, and not another page's sum.
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

static int read_file(sqlite3_file *base, void *data, int size, sqlite3_int64 at)
{
    struct file *file = (struct file *)base;
    const int code = inner_of(base)->pMethods->xRead(inner_of(base), data, size, at);
    if (code == SQLITE_OK && file->is_database && at == 0 && size >= HEADER_BYTES) {
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

// What the system said of a call that failed.
static int note(sqlite3_file *base, int code)
{
    if (code != SQLITE_OK) {
        ((struct file *)base)->pages->write_error = code == SQLITE_FULL ? ENOSPC : errno;
    }
    return code;
}

static int write_file(sqlite3_file *base, const void *data, int size, sqlite3_int64 at)
{
    struct file *file = (struct file *)base;
    sqlite3_file *inner = inner_of(base);
    if (file->is_database && at == 0 && size >= HEADER_BYTES) {
        learn(file, data);
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

// -- What the system does ----------------------------------------------------------------------

static int close_file(sqlite3_file *base)
{
    alloc_free(((struct file *)base)->page);
    return inner_of(base)->pMethods->xClose(inner_of(base));
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    return note(base, inner_of(base)->pMethods->xTruncate(inner_of(base), size));
}

static int sync_file(sqlite3_file *base, int flags)
{
    return note(base, inner_of(base)->pMethods->xSync(inner_of(base), flags));
}

static int size_of_file(sqlite3_file *base, sqlite3_int64 *out_size)
{
    return inner_of(base)->pMethods->xFileSize(inner_of(base), out_size);
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

static int map_shared(sqlite3_file *base, int page, int size, int extend, void volatile **out)
{
    return note(base, inner_of(base)->pMethods->xShmMap(inner_of(base), page, size, extend, out));
}

static int lock_shared(sqlite3_file *base, int first, int count, int flags)
{
    return inner_of(base)->pMethods->xShmLock(inner_of(base), first, count, flags);
}

static void fence_shared(sqlite3_file *base)
{
    inner_of(base)->pMethods->xShmBarrier(inner_of(base));
}

static int unmap_shared(sqlite3_file *base, int remove)
{
    return inner_of(base)->pMethods->xShmUnmap(inner_of(base), remove);
}

// The second version: without mapped pages, which nobody would compare.
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

static int
open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags)
{
    struct file *file = (struct file *)base;
    struct pages *pages = (struct pages *)vfs;
    *file = (struct file){.pages = pages, .is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0};
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
    pages->vfs = *system; // All but opening is as the system does it.
    pages->vfs.pNext = NULL;
    pages->vfs.szOsFile = (int)sizeof(struct file) + system->szOsFile;
    pages->vfs.xOpen = open_file;
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
