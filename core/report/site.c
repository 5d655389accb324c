// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/site.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json_file.h"
#include "base/table.h"
#include "report/matrix_html.h"
#include "report/report_files.h"
#include "report/report_html.h"
#include "report/report_maker.h"
#include "report/report_markup.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "tapml.site/1"
#define RUNS   "runs/"
#define HTML   ".html"

static const char index_file[] = "index.html", matrix_file[] = "matrix.json";

enum { NAME_MAX_BYTES = 100 };

// -- Names -------------------------------------------------------------------------------------

static int is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
}

// The last part of a folder, of letters that mean nothing in a link or a shell.
static void name_run(const char *folder, char out_name[NAME_MAX_BYTES])
{
    size_t end = strlen(folder);

    while (end > 0 && folder[end - 1] == '/') {
        end--;
    }
    size_t begin = end;

    while (begin > 0 && folder[begin - 1] != '/') {
        begin--;
    }
    (void)snprintf(out_name, NAME_MAX_BYTES, "%.*s", (int)((end - begin) % 10000), folder + begin);
    for (char *at = out_name; *at != '\0'; at++) {
        *at = (char)(is_plain(*at) && (at > out_name || *at != '.') ? *at : '_');
    }
    if (*out_name == '\0') {
        (void)snprintf(out_name, NAME_MAX_BYTES, "run");
    }
}

// Runs of one name are told apart by numbers.
static tapml_status
add_run(struct site *site, struct table *names, const char *folder, struct site_run *run)
{
    char name[NAME_MAX_BYTES];
    size_t known = 0;

    name_run(folder, name);
    run->name = arena_text(site->arena, name);
    for (size_t number = 2; run->name != NULL && table_find(names, run->name, &known); number++) {
        run->name = arena_format(site->arena, "%s-%zu", name, number);
    }
    run->file = run->name != NULL ? arena_format(site->arena, RUNS "%s" HTML, run->name) : NULL;
    return run->file != NULL ? table_set(names, run->name, 1) : status_no_memory();
}

static tapml_status name_runs(struct site *site, const char *const *folders)
{
    struct table names;
    tapml_status status = TAPML_OK;

    site->runs = arena_array(site->arena, site->count + 1, sizeof(*site->runs));
    if (site->runs == NULL) {
        return status_no_memory();
    }
    table_init(&names);
    for (size_t i = 0; status == TAPML_OK && i < site->count; i++) {
        status = add_run(site, &names, folders[i], &site->runs[i]);
    }
    table_release(&names);
    return status;
}

// The files of the site beside its marker: those of runs, then two more; NULL past the last.
static const char *file_at(const struct site *site, size_t index)
{
    return index < site->count        ? site->runs[index].file
           : index == site->count     ? index_file
           : index == site->count + 1 ? matrix_file
                                      : NULL;
}

// -- What is there -----------------------------------------------------------------------------

// Whether a marker may name a file: one that this could have written, and no other of the machine.
static int may_be_own(const char *file)
{
    const size_t length = strlen(file), begin = sizeof(RUNS) - 1, end = sizeof(HTML) - 1;

    if (strcmp(file, index_file) == 0 || strcmp(file, matrix_file) == 0) {
        return 1;
    }
    if (length <= begin + end || strncmp(file, RUNS, begin) != 0 ||
        strcmp(file + length - end, HTML) != 0 || file[begin] == '.') {
        return 0;
    }
    for (const char *at = file + begin; *at != '\0'; at++) {
        if (!is_plain(*at)) {
            return 0;
        }
    }
    return 1;
}

static tapml_status check_marker(struct site *site, const json_t *marker)
{
    const json_t *files = json_object_get(marker, "files");
    int is_own =
        strcmp(report_markup_string(marker, "format"), FORMAT) == 0 && json_is_array(files);

    for (size_t i = 0; is_own && i < json_array_size(files); i++) {
        const char *file = json_string_value(json_array_get(files, i));

        is_own = file != NULL && may_be_own(file) &&
                 json_array_append(site->earlier, json_array_get(files, i)) == 0;
    }
    return is_own ? TAPML_OK
                  : status_fail(TAPML_INVALID,
                                "'%s/" SITE_MARKER "': expected the list of files of a site, "
                                "format '" FORMAT "'",
                                site->dir);
}

static tapml_status read_marker(struct site *site)
{
    json_t *marker = NULL;

    TAPML_TRY(json_file_find(site->dir, SITE_MARKER, &marker));
    if (marker != NULL) {
        const tapml_status status = check_marker(site, marker);

        json_decref(marker);
        return status;
    }
    struct folder_names names;
    const tapml_status status = folder_list(site->dir, &names);
    const size_t count = names.count;

    folder_release(&names);
    TAPML_TRY(status);
    return count == 0 ? TAPML_OK
                      : status_fail(TAPML_INVALID,
                                    "the folder '%s' has files and is no site of 'tapml-host "
                                    "publish': expected an empty or absent one",
                                    site->dir);
}

static int is_listed(const json_t *files, const char *file)
{
    for (size_t i = 0; i < json_array_size(files); i++) {
        if (strcmp(json_string_value(json_array_get(files, i)), file) == 0) {
            return 1;
        }
    }
    return 0;
}

static tapml_status path_of(const struct site *site, const char *file, const char **out_path)
{
    *out_path = arena_format(site->arena, "%s/%s", site->dir, file);
    return *out_path != NULL ? TAPML_OK : status_no_memory();
}

// Nothing is written over that somebody else has put there.
static tapml_status check_files(const struct site *site)
{
    const char *path = NULL;

    TAPML_TRY(path_of(site, "runs", &path));
    if (file_exists(path) && (file_is_link(path) || !file_is_folder(path))) {
        return status_fail(TAPML_INVALID, "'%s' is no folder of a site", path);
    }
    for (size_t i = 0; file_at(site, i) != NULL; i++) {
        TAPML_TRY(path_of(site, file_at(site, i), &path));
        if (file_exists(path) && !is_listed(site->earlier, file_at(site, i))) {
            return status_fail(TAPML_INVALID,
                               "'%s' is there, and '%s/" SITE_MARKER "' does not list it", path,
                               site->dir);
        }
    }
    return TAPML_OK;
}

// -- Writing -----------------------------------------------------------------------------------

// Lists the files of the site, behind those of before if they are still there.
static tapml_status write_marker(const struct site *site, int has_earlier)
{
    struct report_maker made = report_maker_begin();
    json_t *files = json_array();
    const char *path = NULL;

    report_maker_text(&made, "format", FORMAT);
    report_maker_put(&made, "files", files);
    for (size_t i = 0; file_at(site, i) != NULL; i++) {
        made.failed |= json_array_append_new(files, report_maker_string(file_at(site, i))) != 0;
    }
    for (size_t i = 0; has_earlier && i < json_array_size(site->earlier); i++) {
        json_t *file = json_array_get(site->earlier, i);

        if (!is_listed(files, json_string_value(file))) {
            made.failed |= json_array_append(files, file) != 0;
        }
    }
    tapml_status status = report_maker_finish(&made);

    if (status == TAPML_OK) {
        status = path_of(site, SITE_MARKER, &path);
    }
    if (status == TAPML_OK) {
        status = report_files_write_json(made.object, path);
    }
    json_decref(made.object);
    return status;
}

static tapml_status begin(struct site *site, const char *const *folders)
{
    const char *runs = NULL;

    TAPML_TRY(name_runs(site, folders));
    if (file_exists(site->dir) && !file_is_folder(site->dir)) {
        return status_fail(TAPML_INVALID, "'%s' is a file, expected a folder", site->dir);
    }
    if (file_exists(site->dir)) {
        TAPML_TRY(read_marker(site));
    }
    TAPML_TRY(check_files(site));
    TAPML_TRY(path_of(site, "runs", &runs));
    TAPML_TRY(file_make_folder(site->dir));
    TAPML_TRY(write_marker(site, 1));
    return file_make_folder(runs);
}

tapml_status site_begin(const char *dir,
                        const char *const *folders,
                        size_t count,
                        struct arena *arena,
                        struct site *out_site)
{
    struct site site = {.dir = dir, .arena = arena, .earlier = json_array(), .count = count};
    const tapml_status status = site.earlier != NULL ? begin(&site, folders) : status_no_memory();

    if (status != TAPML_OK) {
        json_decref(site.earlier);
        return status;
    }
    *out_site = site;
    return TAPML_OK;
}

// The cases of a run are most of its report, and only its own page shows them.
static void make_smaller(json_t *report)
{
    static const char *const lists[] = {"cases", "derived", "steps", "grid", "not_compared"};
    json_t *targets = json_object_get(report, "targets");

    for (size_t i = 0; i < json_array_size(targets); i++) {
        for (size_t k = 0; k < sizeof(lists) / sizeof(*lists); k++) {
            (void)json_object_del(json_array_get(targets, i), lists[k]);
        }
    }
}

tapml_status site_add(struct site *site, size_t run, json_t *report)
{
    const char *path = NULL;

    json_decref(site->runs[run].report);
    site->runs[run].report = report;
    TAPML_TRY(path_of(site, site->runs[run].file, &path));
    TAPML_TRY(report_files_write_as(report, report_html_print, path));
    make_smaller(report);
    return TAPML_OK;
}

static tapml_status make_matrix(struct site *site, enum matrix_by by, json_t **out_matrix)
{
    struct matrix_run *runs = arena_array(site->arena, site->count + 1, sizeof(*runs));

    if (runs == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < site->count; i++) {
        runs[i] = (struct matrix_run){site->runs[i].name, site->runs[i].file, site->runs[i].report};
    }
    return matrix_create(&(struct matrix_options){.runs = runs, .count = site->count, .by = by},
                         out_matrix);
}

static tapml_status write_matrix(struct site *site, const json_t *matrix)
{
    const char *path = NULL;

    TAPML_TRY(path_of(site, matrix_file, &path));
    TAPML_TRY(report_files_write_json(matrix, path));
    TAPML_TRY(path_of(site, index_file, &path));
    return report_files_write_as(matrix, matrix_html_print, path);
}

// Pages of runs that are no part of it any more.
static tapml_status remove_earlier(struct site *site)
{
    struct table files;
    tapml_status status = TAPML_OK;

    table_init(&files);
    for (size_t i = 0; status == TAPML_OK && file_at(site, i) != NULL; i++) {
        status = table_set(&files, file_at(site, i), 1);
    }
    for (size_t i = 0; status == TAPML_OK && i < json_array_size(site->earlier); i++) {
        const char *file = json_string_value(json_array_get(site->earlier, i));
        const char *path = NULL;
        size_t known = 0;

        if (!table_find(&files, file, &known)) {
            status = path_of(site, file, &path);
            (void)(status == TAPML_OK && remove(path)); // It may be gone already.
        }
    }
    table_release(&files);
    return status;
}

tapml_status site_end(struct site *site, enum matrix_by by)
{
    json_t *matrix = NULL;

    TAPML_TRY(make_matrix(site, by, &matrix));
    const tapml_status status = write_matrix(site, matrix);

    json_decref(matrix);
    TAPML_TRY(status);
    TAPML_TRY(remove_earlier(site));
    return write_marker(site, 0);
}

void site_release(struct site *site)
{
    for (size_t i = 0; i < site->count; i++) {
        json_decref(site->runs[i].report);
    }
    json_decref(site->earlier);
    *site = (struct site){.dir = NULL};
}
