// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "store/migrate.h"
#include "store/pages.h"
#include "store/row.h"
#include "store/salvage_rows.h"
#include "store/salvage_sift.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/successor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    // Where the header has what, in SQLite's file format.
    RESERVED_AT = 20,
    CHANGES_AT = 24,
    COUNT_AT = 28,
    VERSION_AT = 60,
    APPLICATION_AT = 68,
    VALID_FOR_AT = 92,

    FIRST_PAGES = 8, // That are named by number.
};

struct salvage {
    struct successor successor;
    struct pages_health health;
    unsigned char *pages; // In place of damaged ones.
    struct store *from, *to;
};

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// SQLite believes the number of pages where the header was last changed with it.
static void put_count(unsigned char *header, int64_t count)
{
    for (int i = 0; i < 4; i++) {
        header[COUNT_AT + i] = (unsigned char)(count >> (24 - 8 * i));
    }
    memcpy(header + VALID_FOR_AT, header + CHANGES_AT, 4);
}

// Moves the log into the database, as the last program that closes it does; `*out_is_settled` is
// whether no log is left.
static tapml_status settle_log(const char *path, int *out_is_settled)
{
    struct text log;
    struct store *store = NULL;
    text_init(&log);
    text_format(&log, "%s-wal", path);
    tapml_status status = text_status(&log);
    if (status == TAPML_OK && file_exists(log.data)) {
        const tapml_status opened = store_open(path, 0, &store);
        store_close(store);
        // One that is damaged keeps its log, which is read with it.
        status = opened == TAPML_INVALID ? TAPML_OK : opened;
        *out_is_settled = opened == TAPML_INVALID || !file_exists(log.data);
    } else {
        *out_is_settled = 1;
    }
    text_release(&log);
    return status;
}

// A database of another make, or (where the header can be believed) of another version.
static int is_foreign(const struct pages_health *health)
{
    static const char magic[16] = "SQLite format 3";
    const unsigned char *header = health->header;
    if (health->is_header_whole) {
        return number_at(header + APPLICATION_AT) != SCHEMA_APPLICATION_ID ||
               number_at(header + VERSION_AT) < MIGRATE_VERSION_MIN ||
               number_at(header + VERSION_AT) > STORE_VERSION;
    }
    return health->right == 0 && memcmp(header, magic, sizeof(magic)) == 0 &&
           header[RESERVED_AT] != PAGES_SUM_BYTES;
}

static int is_earlier(const struct pages_health *health)
{
    return health->is_header_whole && number_at(health->header + VERSION_AT) < STORE_VERSION;
}

// Whether SQLite finds pages that are not in their places. That it cannot read the store now, since
// another process is beginning or ending to, says nothing of its pages.
static int is_unsound(const char *path)
{
    struct store *store = NULL;
    struct row row;
    int has = 0;
    tapml_status status = store_open_to_read(path, &store);
    if (status == TAPML_OK) {
        status = row_begin(store, "PRAGMA quick_check(1)", "checking it", &row);
    }
    if (status == TAPML_OK) {
        status = row_next(&row, &has);
    }
    const int is_ok = status == TAPML_OK && has && strcmp(row_text(&row, 0), "ok") == 0;
    if (status == TAPML_OK && has) {
        row_end(&row);
    }
    store_close(store);
    return status == TAPML_INVALID || (status == TAPML_OK && !is_ok);
}

static void print_pages(const struct pages_health *health, struct text *out)
{
    const int64_t named = health->bad < FIRST_PAGES ? health->bad : FIRST_PAGES;
    if (health->bad == 0) {
        text_append(out, "in pages that hold nothing any more");
        return;
    }
    text_format(out, "in %" PRId64 " of %" PRId64 " pages (", health->bad, health->count);
    for (int64_t i = 0; i < named; i++) {
        text_format(out, "%s%" PRId64, i > 0 ? ", " : "", health->first[i]);
    }
    text_append(out, health->bad > named ? " ...)" : ")");
}

static tapml_status refuse(const struct salvage *salvage)
{
    struct text pages;
    char why[256];
    (void)snprintf(why, sizeof(why), "%s", status_message());
    text_init(&pages);
    print_pages(&salvage->health, &pages);
    const tapml_status status =
        text_status(&pages) != TAPML_OK
            ? status_no_memory()
            : status_fail(TAPML_INVALID,
                          "store '%s' is damaged %s, and cannot be salvaged: %s; put back a copy "
                          "of it, or move it away and start again",
                          salvage->successor.path, pages.data, why);
    text_release(&pages);
    return status;
}

// Pages without a checksum may be right: a hole in the file, or what the shell has written.
static tapml_status is_needed(struct salvage *salvage, int *out_is_needed)
{
    struct pages_health *health = &salvage->health;
    int is_settled = 0;
    *out_is_needed = 0;
    if (!file_exists(salvage->successor.path)) {
        return TAPML_OK;
    }
    TAPML_TRY(settle_log(salvage->successor.path, &is_settled));
    if (!is_settled) { // Somebody reads it; a page that is damaged is found when it is needed.
        return TAPML_OK;
    }
    TAPML_TRY(pages_check(salvage->successor.path, health));
    if (health->count == 0 || is_foreign(health)) {
        return TAPML_OK;
    }
    if (health->bad > 0 && is_earlier(health)) {
        (void)status_fail(TAPML_INVALID, "it is of an earlier version, which only the host that "
                                         "wrote it can salvage");
        return refuse(salvage);
    }
    *out_is_needed =
        health->bad > 0 || (health->right < health->count && is_unsound(salvage->successor.path));
    if (*out_is_needed && health->right == 0) {
        (void)status_fail(TAPML_INVALID, "no page of it is whole");
        return refuse(salvage);
    }
    return TAPML_OK;
}

// The pages of a store that was just made: its header, its schema, empty tables and indices.
static tapml_status copy_fresh(struct salvage *salvage, struct pages_replacement *replacement)
{
    struct file_map file;
    TAPML_TRY(file_map(salvage->successor.making.data, &file));
    const int64_t count = (int64_t)file.size / replacement->page_bytes;
    replacement->count = (int)(count < PAGES_REPLACED_MAX ? count : PAGES_REPLACED_MAX);
    memcpy(salvage->pages, file.data, (size_t)replacement->count * (size_t)replacement->page_bytes);
    file_unmap(&file);
    return TAPML_OK;
}

// Leaves only pages of the schema in the mask: those that are no table's or index's first.
static tapml_status find_schema_pages(struct store *fresh, uint64_t *mask)
{
    struct row row;
    int has = 0;
    TAPML_TRY(
        row_begin(fresh, "SELECT rootpage FROM sqlite_schema", "looking at its schema", &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const int64_t page = row_i64(&row, 0);
        if (page >= 1 && page <= PAGES_REPLACED_MAX) {
            *mask &= ~((uint64_t)1 << (page - 1));
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

// A whole header is replaced too, so that SQLite opens a file that is cut.
static tapml_status replace_header(struct salvage *salvage)
{
    unsigned char *header = salvage->pages;
    struct file_map file;
    if (salvage->health.is_header_whole) {
        TAPML_TRY(file_map(salvage->successor.path, &file));
        memcpy(header, file.data, (size_t)salvage->health.page_bytes);
        file_unmap(&file);
    }
    put_count(header, salvage->health.count);
    return TAPML_OK;
}

// The new store has pages of the size of the old one: so its schema lies in the same pages.
static tapml_status open_both(struct salvage *salvage)
{
    const int page_bytes = salvage->health.page_bytes;
    struct pages_replacement replacement = {.page_bytes = page_bytes, .mask = salvage->health.mask};
    salvage->pages = alloc_array(PAGES_REPLACED_MAX, (size_t)page_bytes);
    if (!salvage->pages) {
        return status_no_memory();
    }
    successor_remove_making(&salvage->successor);
    TAPML_TRY(store_open_sized(salvage->successor.making.data, page_bytes, &salvage->to));
    TAPML_TRY(copy_fresh(salvage, &replacement));
    TAPML_TRY(find_schema_pages(salvage->to, &replacement.mask));
    replacement.mask |= 1;
    replacement.bytes = salvage->pages;
    TAPML_TRY(replace_header(salvage));
    return store_open_damaged(salvage->successor.path, &replacement, &salvage->from);
}

static void close_both(struct salvage *salvage)
{
    store_close(salvage->from);
    store_close(salvage->to);
    salvage->from = salvage->to = NULL;
}

static tapml_status
make(struct salvage *salvage, const char *const *metadata, struct text *out_report)
{
    TAPML_TRY(open_both(salvage));
    TAPML_TRY(salvage_rows_copy(salvage->from, salvage->to));
    TAPML_TRY(salvage_sift_run(salvage->to, metadata, out_report));
    // It is moved without a log.
    TAPML_TRY(store_execute(salvage->to, "PRAGMA wal_checkpoint(TRUNCATE)", "salvaging"));
    close_both(salvage);
    return successor_finish(&salvage->successor);
}

static tapml_status
replace(struct salvage *salvage, const char *const *metadata, struct text *out_report)
{
    struct text damaged;
    text_format(out_report, "store '%s' was damaged ", salvage->successor.path);
    print_pages(&salvage->health, out_report);
    tapml_status status = make(salvage, metadata, out_report);
    close_both(salvage);
    alloc_free(salvage->pages);
    if (status != TAPML_OK) {
        status = status == TAPML_INVALID ? refuse(salvage) : status;
        successor_remove_making(&salvage->successor);
        return status;
    }
    text_init(&damaged);
    status = successor_swap(&salvage->successor, &damaged);
    if (status == TAPML_OK) {
        text_format(out_report, "; what is lost is done again, the damaged file is now '%s'",
                    damaged.data);
        status = text_status(out_report);
    }
    text_release(&damaged);
    return status;
}

tapml_status salvage_run(const char *path, const char *const *metadata, struct text *out_report)
{
    struct salvage salvage = {0};
    int is_wanted = 0;
    tapml_status status = successor_init(&salvage.successor, path);
    if (status == TAPML_OK) {
        status = successor_resume(&salvage.successor);
    }
    if (status == TAPML_OK) {
        status = is_needed(&salvage, &is_wanted);
    }
    if (status == TAPML_OK && is_wanted) {
        status = replace(&salvage, metadata, out_report);
    }
    successor_release(&salvage.successor);
    return status;
}
