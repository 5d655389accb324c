// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "store/metadata.h"
#include "store/migrate.h"
#include "store/pages.h"
#include "store/row.h"
#include "store/schema.h"
#include "store/store.h"
#include "store/store_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    // Where the header has what, in SQLite's file format.
    RESERVED_AT = 20,
    CHANGES_AT = 24,
    COUNT_AT = 28,
    VERSION_AT = 60,
    APPLICATION_AT = 68,
    VALID_FOR_AT = 92,

    STEP_BYTES = 16 << 20,     // That are written in one transaction.
    PROBES_MAX = 1 << 16,      // Into a gap of one table.
    FIRST_PAGES = 8,           // That are told by number.
    DAMAGED_NAMES_MAX = 10000, // PATH.damaged-N
};

struct salvage {
    const char *path;
    struct text making; // The name of the new store while it is made,
    struct text made;   // and from then on.
    struct pages_health health;
    unsigned char *pages; // In place of damaged ones.
    struct store *from, *to;
    int64_t step_bytes;
    int probes;
};

// -- Names and moves ---------------------------------------------------------------------------

static tapml_status move_if_there(const char *from, const char *to)
{
    return file_exists(from) ? file_move(from, to) : TAPML_OK;
}

static tapml_status print_name(struct text *out, const char *path, const char *end)
{
    text_clear(out);
    text_format(out, "%s%s", path, end);
    return text_status(out);
}

// The first name that no damaged store has yet.
static tapml_status choose_name(const char *path, struct text *out)
{
    TAPML_TRY(print_name(out, path, ".damaged"));
    for (int i = 2; file_exists(out->data); i++) {
        text_clear(out);
        text_format(out, "%s.damaged-%d", path, i);
        TAPML_TRY(text_status(out));
        if (i == DAMAGED_NAMES_MAX) {
            return status_fail(TAPML_INVALID, "'%s' and all before it exist: remove some",
                               out->data);
        }
    }
    return TAPML_OK;
}

// The old store goes with its log, or the new one would be given the log of a stranger. Whoever is
// killed in between finds the same name free.
static tapml_status move_old(const char *path, const char *damaged)
{
    struct text from, to;
    text_init(&from);
    text_init(&to);
    tapml_status status = print_name(&from, path, "-shm");
    if (status == TAPML_OK) {
        (void)unlink(from.data); // Mostly not there; SQLite makes it anew.
        status = print_name(&from, path, "-wal");
    }
    if (status == TAPML_OK) {
        status = print_name(&to, damaged, "-wal");
    }
    if (status == TAPML_OK) {
        status = move_if_there(from.data, to.data);
    }
    if (status == TAPML_OK) {
        status = move_if_there(path, damaged);
    }
    text_release(&from);
    text_release(&to);
    return status;
}

// Puts the new store in the place of the old one, from wherever this was interrupted.
static tapml_status swap(const struct salvage *salvage, struct text *out_damaged)
{
    TAPML_TRY(choose_name(salvage->path, out_damaged));
    TAPML_TRY(move_old(salvage->path, out_damaged->data));
    return file_move(salvage->made.data, salvage->path);
}

static tapml_status finish_swap(const struct salvage *salvage)
{
    struct text damaged;
    if (!file_exists(salvage->made.data)) {
        return TAPML_OK;
    }
    text_init(&damaged);
    const tapml_status status = swap(salvage, &damaged);
    text_release(&damaged);
    return status;
}

static void remove_making(const struct salvage *salvage)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    struct text name;
    text_init(&name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        if (print_name(&name, salvage->making.data, ends[i]) == TAPML_OK) {
            (void)unlink(name.data); // What is left over is in the way of nobody but us.
        }
    }
    text_release(&name);
}

// -- Whether there is anything to do -----------------------------------------------------------

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

// Brings the log into the database, as whoever opens it last does, and tells whether none is left.
static tapml_status settle_log(const char *path, int *out_is_settled)
{
    struct text log;
    struct store *store = NULL;
    text_init(&log);
    tapml_status status = print_name(&log, path, "-wal");
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

// Whether SQLite finds all pages in their places.
static int is_sound(const char *path)
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
    return is_ok;
}

static void tell_pages(const struct pages_health *health, struct text *out)
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
    tell_pages(&salvage->health, &pages);
    const tapml_status status =
        text_status(&pages) != TAPML_OK
            ? status_no_memory()
            : status_fail(TAPML_INVALID,
                          "store '%s' is damaged %s, and cannot be salvaged: %s; put back a copy "
                          "of it, or move it away and start again",
                          salvage->path, pages.data, why);
    text_release(&pages);
    return status;
}

// Pages without a checksum may be right: a hole in the file, or what the shell has written.
static tapml_status is_needed(struct salvage *salvage, int *out_is_needed)
{
    struct pages_health *health = &salvage->health;
    int is_settled = 0;
    *out_is_needed = 0;
    if (!file_exists(salvage->path)) {
        return TAPML_OK;
    }
    TAPML_TRY(settle_log(salvage->path, &is_settled));
    if (!is_settled) { // Somebody reads it; a page that is damaged is found when it is needed.
        return TAPML_OK;
    }
    TAPML_TRY(pages_check(salvage->path, health));
    if (health->count == 0 || is_foreign(health)) {
        return TAPML_OK;
    }
    if (health->bad > 0 && is_earlier(health)) {
        (void)status_fail(TAPML_INVALID, "it is of an earlier version, which only the host that "
                                         "wrote it can salvage");
        return refuse(salvage);
    }
    *out_is_needed = health->bad > 0 || (health->right < health->count && !is_sound(salvage->path));
    if (*out_is_needed && health->right == 0) {
        (void)status_fail(TAPML_INVALID, "no page of it is whole");
        return refuse(salvage);
    }
    return TAPML_OK;
}

// -- The header and the schema -----------------------------------------------------------------

// The pages of a store that was just made: its header, its schema, empty tables and indices.
static tapml_status copy_fresh(struct salvage *salvage, struct pages_replacement *replacement)
{
    struct file_map file;
    TAPML_TRY(file_map(salvage->making.data, &file));
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
        TAPML_TRY(file_map(salvage->path, &file));
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
    remove_making(salvage);
    TAPML_TRY(store_open_sized(salvage->making.data, page_bytes, &salvage->to));
    TAPML_TRY(copy_fresh(salvage, &replacement));
    TAPML_TRY(find_schema_pages(salvage->to, &replacement.mask));
    replacement.mask |= 1;
    replacement.bytes = salvage->pages;
    TAPML_TRY(replace_header(salvage));
    return store_open_damaged(salvage->path, &replacement, &salvage->from);
}

// -- Rows --------------------------------------------------------------------------------------

// Rows lie in the file by their key. Where that is no number, the rows before and behind all pages
// that are damaged are read, and none between two of these.
struct table_spec {
    const char *name, *key;
    int is_number;
    int is_indexed; // The rows have indices beside them, which may be damaged.
};

static const struct table_spec TABLES[] = {
    {"metadata", "name", 0, 0},     {"run", "id", 0, 0},        {"prompt", "hash", 0, 0},
    {"tensor", "rowid", 1, 1},      {"weight", "name", 0, 0},   {"\"case\"", "id", 1, 1},
    {"argument", "case_id", 1, 0},  {"page", "case_id", 1, 0},  {"call", "id", 1, 1},
    {"statistic", "call_id", 1, 0}, {"result", "target", 0, 0}, {"element", "target", 0, 0},
    {"\"limit\"", "op", 0, 0},      {"step", "id", 1, 1},       {"target", "name", 0, 0},
    {"offload", "target", 0, 0},    {"blame", "target", 0, 0},  {"timing", "target", 0, 0},
};

// One way through a table, as far as it goes.
struct reading {
    const struct table_spec *spec;
    int64_t low, high; // Keys, both included.
    int is_down;
    int is_whole;
    int has_last;
    int64_t last; // Key that was read.
};

static tapml_status
note_gap(struct salvage *salvage, const struct table_spec *spec, int64_t low, int64_t high)
{
    struct row row;
    TAPML_TRY(row_begin(salvage->to, "INSERT INTO gap VALUES (?, ?, ?)", "noting a gap", &row));
    row_put_text(&row, spec->name);
    row_put_i64(&row, low);
    row_put_i64(&row, high);
    return row_run(&row);
}

static tapml_status end_transaction(struct salvage *salvage, int64_t bytes)
{
    salvage->step_bytes += bytes;
    if (salvage->step_bytes < STEP_BYTES) {
        return TAPML_OK;
    }
    salvage->step_bytes = 0;
    TAPML_TRY(store_commit(salvage->to));
    return store_begin(salvage->to);
}

// Column 0 is the key.
static tapml_status put_row(struct salvage *salvage, struct reading *reading, struct row *from)
{
    const int columns = sqlite3_column_count(from->statement) - 1;
    struct row row;
    struct text sql;
    int64_t bytes = 0;
    text_init(&sql);
    text_format(&sql, "INSERT OR IGNORE INTO %s VALUES (?", reading->spec->name);
    for (int i = 1; i < columns; i++) {
        text_append(&sql, ", ?");
    }
    text_append(&sql, ")");
    tapml_status status = text_status(&sql);
    if (status == TAPML_OK) {
        status = row_begin(salvage->to, sql.data, "taking over a row", &row);
    }
    text_release(&sql);
    TAPML_TRY(status);
    for (int i = 1; i <= columns && row.code == SQLITE_OK; i++) {
        row.code = sqlite3_bind_value(row.statement, i, sqlite3_column_value(from->statement, i));
        bytes += sqlite3_column_bytes(from->statement, i);
    }
    TAPML_TRY(row_run(&row));
    if (sqlite3_changes(store_connection(salvage->to)) == 0) { // No row that a store could have.
        TAPML_TRY(note_gap(salvage, reading->spec, row_i64(from, 0), row_i64(from, 0)));
    }
    return end_transaction(salvage, bytes);
}

static tapml_status begin_reading(struct salvage *salvage, struct reading *reading, struct row *row)
{
    const struct table_spec *spec = reading->spec;
    struct text sql;
    text_init(&sql);
    text_format(&sql, "SELECT %s, * FROM %s%s", spec->key, spec->name,
                spec->is_indexed ? " NOT INDEXED" : "");
    if (spec->is_number) {
        text_format(&sql, " WHERE %s BETWEEN ? AND ?", spec->key);
    }
    text_format(&sql, " ORDER BY %s%s", spec->key, reading->is_down ? " DESC" : "");
    tapml_status status = text_status(&sql);
    if (status == TAPML_OK) {
        status = row_begin(salvage->from, sql.data, "reading what is left", row);
    }
    text_release(&sql);
    TAPML_TRY(status);
    if (spec->is_number) {
        row_put_i64(row, reading->low);
        row_put_i64(row, reading->high);
    }
    return TAPML_OK;
}

// What the damaged store says is taken for what it is: no more of it is to be had this way.
static tapml_status stop(struct reading *reading, tapml_status status)
{
    reading->is_whole = status == TAPML_OK;
    return status == TAPML_NO_MEMORY ? status : TAPML_OK;
}

static tapml_status read_rows(struct salvage *salvage, struct reading *reading)
{
    struct row row;
    int has = 0;
    tapml_status status = begin_reading(salvage, reading, &row);
    if (status != TAPML_OK) {
        return stop(reading, status);
    }
    for (;;) {
        status = row_next(&row, &has);
        if (status != TAPML_OK || !has) {
            return stop(reading, status);
        }
        reading->last = row_i64(&row, 0);
        reading->has_last = 1;
        status = put_row(salvage, reading, &row);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
    }
}

// Takes the rows from `low` to `high`: from both ends to the page that cannot be read, then the
// halves of what is between them. The keys around a gap are noted with it: rows beside them may be
// missing.
static tapml_status
take_between(struct salvage *salvage, const struct table_spec *spec, int64_t low, int64_t high)
{
    struct reading up = {.spec = spec, .low = low, .high = high};
    struct reading down = {.spec = spec, .low = low, .high = high, .is_down = 1};
    TAPML_TRY(read_rows(salvage, &up));
    if (up.is_whole) {
        return TAPML_OK;
    }
    TAPML_TRY(read_rows(salvage, &down));
    const int is_bounded = down.has_last || high < INT64_MAX;
    const int64_t begin = up.has_last ? up.last : low - 1;
    const int64_t end = down.has_last ? down.last : high < INT64_MAX ? high + 1 : high;
    if (!is_bounded || low == high || begin >= end - 1 || salvage->probes == 0) {
        return note_gap(salvage, spec, begin, end);
    }
    salvage->probes--;
    TAPML_TRY(note_gap(salvage, spec, begin, begin));
    TAPML_TRY(note_gap(salvage, spec, end, end));
    const int64_t middle = begin + (end - begin) / 2;
    TAPML_TRY(take_between(salvage, spec, begin + 1, middle));
    return middle + 1 < end ? take_between(salvage, spec, middle + 1, end - 1) : TAPML_OK;
}

static tapml_status take_ends(struct salvage *salvage, const struct table_spec *spec)
{
    struct reading up = {.spec = spec};
    struct reading down = {.spec = spec, .is_down = 1};
    TAPML_TRY(read_rows(salvage, &up));
    if (up.is_whole) {
        return TAPML_OK;
    }
    TAPML_TRY(note_gap(salvage, spec, 0, 0));
    return read_rows(salvage, &down);
}

static tapml_status run_sql(struct salvage *salvage, const char *sql)
{
    const int code = sqlite3_exec(store_connection(salvage->to), sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TAPML_OK : store_fail(salvage->to, code, "salvaging");
}

static tapml_status take_all(struct salvage *salvage)
{
    TAPML_TRY(run_sql(salvage, "PRAGMA foreign_keys = OFF;"
                               "CREATE TEMP TABLE gap (name TEXT, low INTEGER, high INTEGER);"
                               "CREATE TEMP TABLE dropped (hash TEXT PRIMARY KEY);"));
    TAPML_TRY(store_begin(salvage->to));
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(*TABLES); i++) {
        salvage->probes = PROBES_MAX;
        TAPML_TRY(TABLES[i].is_number ? take_between(salvage, &TABLES[i], 1, INT64_MAX)
                                      : take_ends(salvage, &TABLES[i]));
    }
    return store_commit(salvage->to);
}

// -- What is whole -----------------------------------------------------------------------------

// Prompts of which something is lost, or may be. The calls of a prompt follow one another, so that
// lost ones belong to a prompt beside the gap, or to one that has none left.
static const char FIND_DROPPED[] =
    "INSERT OR IGNORE INTO dropped"
    "  SELECT hash FROM prompt WHERE greedy IS NULL OR position IS NULL;"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM gap JOIN call ON id BETWEEN low AND high"
    "    WHERE name IN ('call', 'statistic');"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT hash FROM prompt WHERE hash NOT IN (SELECT prompt FROM call)"
    "    AND EXISTS (SELECT 1 FROM gap WHERE name = 'call');"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM gap JOIN \"case\" ON id BETWEEN low AND high"
    "    WHERE name IN ('argument', 'page');"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM (SELECT instance, prompt, step, part FROM call WHERE kept"
    "    EXCEPT SELECT instance, prompt, step, part FROM \"case\");"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM (SELECT instance, prompt, step, part FROM \"case\""
    "    EXCEPT SELECT instance, prompt, step, part FROM call WHERE kept);"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM \"case\" JOIN argument ON case_id = id"
    "    WHERE before NOT IN (SELECT key FROM tensor) OR after NOT IN (SELECT key FROM tensor)"
    "      OR (before IS NULL AND kind IN ('in', 'inout') AND effects LIKE '%weight%'"
    "          AND origin NOT IN (SELECT name FROM weight));"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM \"case\" JOIN page ON case_id = id"
    "    WHERE page.key NOT IN (SELECT key FROM tensor);";

static const char DROP[] =
    "DELETE FROM prompt WHERE hash IN (SELECT hash FROM dropped);"
    "DELETE FROM call WHERE prompt NOT IN (SELECT hash FROM prompt);"
    "DELETE FROM \"case\" WHERE prompt NOT IN (SELECT hash FROM prompt);"
    "DELETE FROM statistic WHERE call_id NOT IN (SELECT id FROM call);"
    "DELETE FROM argument WHERE case_id NOT IN (SELECT id FROM \"case\");"
    "DELETE FROM page WHERE case_id NOT IN (SELECT id FROM \"case\");"
    "DELETE FROM result WHERE case_id NOT IN (SELECT id FROM \"case\");"
    // Of a target nobody knows what it was; a class is calibrated by its cases, all of them.
    "DELETE FROM result WHERE target NOT IN (SELECT name FROM target);"
    "DELETE FROM step WHERE target NOT IN (SELECT name FROM target);"
    "DELETE FROM result WHERE EXISTS (SELECT 1 FROM gap WHERE name = '\"limit\"')"
    "  AND case_id NOT IN (SELECT id FROM \"case\" JOIN \"limit\" USING (op, version, "
    "shape_class));"
    "DELETE FROM result WHERE EXISTS (SELECT 1 FROM gap WHERE name = 'element')"
    "  AND beyond IS NOT NULL;"
    "DELETE FROM element WHERE (target, case_id) NOT IN (SELECT target, case_id FROM result);"
    // The order of the steps is that of the times of all calls; what they have found goes with
    // them.
    "DELETE FROM step WHERE EXISTS (SELECT 1 FROM dropped)"
    "  OR EXISTS (SELECT 1 FROM gap WHERE name IN ('prompt', 'blame', 'offload', 'timing'))"
    "  OR id > (SELECT min(low) FROM gap WHERE name = 'step');"
    "CREATE TEMP TABLE unfinished AS SELECT 1 FROM dropped"
    "  UNION SELECT 1 FROM gap"
    "    WHERE name IN ('target', 'prompt', 'blame', 'offload', 'timing', 'step');"
    "DELETE FROM blame WHERE EXISTS (SELECT 1 FROM unfinished);"
    "DELETE FROM timing WHERE EXISTS (SELECT 1 FROM unfinished);"
    "DELETE FROM offload WHERE EXISTS (SELECT 1 FROM unfinished);"
    // Of a run whose row is lost the id is left.
    "INSERT OR IGNORE INTO run SELECT run, '', '', 0 FROM (SELECT run FROM prompt"
    "  UNION SELECT run FROM \"case\" UNION SELECT run FROM result);";

static tapml_status count(struct salvage *salvage, const char *sql, int64_t *out_count)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(salvage->to, sql, "counting", &row));
    TAPML_TRY(row_next(&row, &has));
    *out_count = has ? row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

// What is told of a store: all that it shows there was, then what is kept of it.
static const struct counted {
    const char *what, *had, *has;
} COUNTED[] = {
    {"prompts",
     "SELECT count(*) FROM (SELECT hash FROM prompt UNION SELECT prompt FROM call"
     " UNION SELECT prompt FROM \"case\")",
     "SELECT count(*) FROM prompt"},
    {"cases",
     "SELECT count(*) FROM (SELECT instance, prompt, step, part FROM \"case\""
     " UNION SELECT instance, prompt, step, part FROM call WHERE kept)",
     "SELECT count(*) FROM \"case\""},
    {"results", "SELECT count(*) FROM result", "SELECT count(*) FROM result"},
    {"steps of the offload", "SELECT count(*) FROM step", "SELECT count(*) FROM step"},
};
enum { COUNTED_COUNT = (int)(sizeof(COUNTED) / sizeof(*COUNTED)) };

// Tables of which rows could not be read.
static tapml_status tell_gaps(struct salvage *salvage, struct text *out)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(salvage->to,
                        "SELECT group_concat(name, ', ') FROM"
                        " (SELECT DISTINCT trim(name, '\"') AS name FROM gap ORDER BY 1)",
                        "counting", &row));
    TAPML_TRY(row_next(&row, &has));
    if (has && !row_is_null(&row, 0)) {
        text_format(out, "; rows that cannot be read were in: %s", row_text(&row, 0));
    }
    if (has) {
        row_end(&row);
    }
    return text_status(out);
}

// Leaves in the new store what can be trusted.
static tapml_status sift(struct salvage *salvage, struct text *out_told)
{
    int64_t had[COUNTED_COUNT];
    int64_t has = 0;
    for (int i = 0; i < COUNTED_COUNT; i++) {
        TAPML_TRY(count(salvage, COUNTED[i].had, &had[i]));
    }
    TAPML_TRY(store_begin(salvage->to));
    TAPML_TRY(run_sql(salvage, FIND_DROPPED));
    TAPML_TRY(run_sql(salvage, DROP));
    TAPML_TRY(store_commit(salvage->to));
    text_append(out_told, ": kept are ");
    for (int i = 0; i < COUNTED_COUNT; i++) {
        TAPML_TRY(count(salvage, COUNTED[i].has, &has));
        text_format(out_told, "%s%" PRId64 " of %" PRId64 " %s",
                    i == 0                   ? ""
                    : i + 1 == COUNTED_COUNT ? " and "
                                             : ", ",
                    has, had[i], COUNTED[i].what);
    }
    TAPML_TRY(tell_gaps(salvage, out_told));
    TAPML_TRY(count(salvage, "SELECT count(*) FROM pragma_foreign_key_check", &has));
    return has == 0 ? TAPML_OK : status_fail(TAPML_INTERNAL, "%" PRId64 " rows hang loose", has);
}

static tapml_status check_facts(struct salvage *salvage, const char *const *facts)
{
    int64_t gaps = 0;
    TAPML_TRY(count(salvage, "SELECT count(*) FROM gap WHERE name = 'metadata'", &gaps));
    for (; gaps > 0 && *facts; facts++) {
        if (!metadata_get(salvage->to, *facts)) {
            return status_fail(TAPML_INVALID, "fact '%s' is lost, which says what run it is",
                               *facts);
        }
    }
    return TAPML_OK;
}

// -- The whole ---------------------------------------------------------------------------------

static void close_both(struct salvage *salvage)
{
    store_close(salvage->from);
    store_close(salvage->to);
    salvage->from = salvage->to = NULL;
}

static tapml_status make(struct salvage *salvage, const char *const *facts, struct text *out_told)
{
    TAPML_TRY(open_both(salvage));
    TAPML_TRY(take_all(salvage));
    TAPML_TRY(check_facts(salvage, facts));
    TAPML_TRY(sift(salvage, out_told));
    TAPML_TRY(run_sql(salvage, "PRAGMA wal_checkpoint(TRUNCATE)")); // It is moved without a log.
    close_both(salvage);
    return file_move(salvage->making.data, salvage->made.data);
}

static tapml_status
replace(struct salvage *salvage, const char *const *facts, struct text *out_told)
{
    struct text damaged;
    text_format(out_told, "store '%s' was damaged ", salvage->path);
    tell_pages(&salvage->health, out_told);
    tapml_status status = make(salvage, facts, out_told);
    close_both(salvage);
    alloc_free(salvage->pages);
    if (status != TAPML_OK) {
        status = status == TAPML_INVALID ? refuse(salvage) : status;
        remove_making(salvage);
        return status;
    }
    text_init(&damaged);
    status = swap(salvage, &damaged);
    if (status == TAPML_OK) {
        text_format(out_told, "; what is lost is done again, the damaged file is now '%s'",
                    damaged.data);
        status = text_status(out_told);
    }
    text_release(&damaged);
    return status;
}

tapml_status salvage_run(const char *path, const char *const *facts, struct text *out_told)
{
    struct salvage salvage = {.path = path};
    int is_wanted = 0;
    text_init(&salvage.making);
    text_init(&salvage.made);
    tapml_status status = print_name(&salvage.making, path, ".salvage");
    if (status == TAPML_OK) {
        status = print_name(&salvage.made, path, ".salvaged");
    }
    if (status == TAPML_OK) {
        status = finish_swap(&salvage);
    }
    if (status == TAPML_OK) {
        status = is_needed(&salvage, &is_wanted);
    }
    if (status == TAPML_OK && is_wanted) {
        status = replace(&salvage, facts, out_told);
    }
    text_release(&salvage.making);
    text_release(&salvage.made);
    return status;
}
