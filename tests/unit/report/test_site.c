// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "harness/report.h"
#include "harness/scratch.h"
#include "report/site.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct arena *arena;
static char dir[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    arena = arena_create();
    (void)snprintf(dir, sizeof(dir), "%s", scratch_path(&scratch, "site"));
}

static void end(void)
{
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(site, .init = begin, .fini = end);

static tapml_status write_site(const char *const *folders, size_t count)
{
    struct site site;

    TAPML_TRY(site_begin(dir, folders, count, arena, &site));
    for (size_t i = 0; i < count; i++) {
        MUST(site_add(&site, i, report_make()));
    }
    const tapml_status status = site_end(&site, MATRIX_BY_TARGET);

    site_release(&site);
    return status;
}

static int has(const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "site/%s", name);
    return file_exists(scratch_path(&scratch, path));
}

static char *read_page(const char *name)
{
    char path[64], *data = NULL;
    size_t size = 0;

    (void)snprintf(path, sizeof(path), "site/%s", name);
    MUST(file_read(scratch_path(&scratch, path), 1 << 24, &data, &size));
    return data;
}

static const char *const two[] = {"runs/monday", "runs/tues day/"};
static const char *const same[] = {"a/run", "b/run", "c/run-2", "/", ".."};

Test(site, has_an_index_and_a_page_for_each_run)
{
    MUST(write_site(two, 2));
    cr_assert(has("index.html") && has("matrix.json") && has(SITE_MARKER));
    cr_assert(has("runs/monday.html") && has("runs/tues_day.html"));
    char *index = read_page("index.html");

    cr_assert_not_null(strstr(index, "href=\"runs/tues_day.html#target-1\""));
    alloc_free(index);
}

Test(site, runs_of_one_name_have_numbers)
{
    MUST(write_site(same, sizeof(same) / sizeof(*same)));
    cr_assert(has("runs/run.html") && has("runs/run-2.html") && has("runs/run-2-2.html"));
    cr_assert(has("runs/_..html") || has("runs/_.html"));
}

Test(site, is_written_again_with_the_same_bytes_and_without_what_is_gone)
{
    MUST(write_site(two, 2));
    char *first = read_page("index.html"), *marker = read_page(SITE_MARKER);

    MUST(write_site(two, 2));
    char *second = read_page("index.html"), *again = read_page(SITE_MARKER);

    cr_assert_str_eq(first, second);
    cr_assert_str_eq(marker, again);
    alloc_free(first);
    alloc_free(second);
    alloc_free(marker);
    alloc_free(again);
    MUST(write_site(two, 1));
    cr_assert(has("runs/monday.html") && !has("runs/tues_day.html"));
    again = read_page(SITE_MARKER);
    cr_assert_null(strstr(again, "tues_day"));
    alloc_free(again);
}

Test(site, what_somebody_else_has_written_stays)
{
    MUST(file_make_folder(dir));
    scratch_text(&scratch, "site/letter.txt", "dear");
    cr_assert_eq(write_site(two, 2), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "has files and is no site"));
    cr_assert_not(has("index.html"));
    cr_assert_eq(remove(scratch_path(&scratch, "site/letter.txt")), 0);
    MUST(write_site(two, 1));
    scratch_text(&scratch, "site/runs/tues_day.html", "mine");
    cr_assert_eq(write_site(two, 2), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "does not list it"));
    char *mine = read_page("runs/tues_day.html");

    cr_assert_str_eq(mine, "mine");
    alloc_free(mine);
}

Test(site, a_marker_names_no_file_elsewhere)
{
    static const char *const files[] = {"../letter.txt", "runs/../../letter.html",
                                        "/etc/x.html",   "runs/.x.html",
                                        "letter.txt",    "runs/.html"};

    scratch_text(&scratch, "letter.txt", "dear");
    MUST(file_make_folder(dir));
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char marker[256];

        (void)snprintf(marker, sizeof(marker),
                       "{\"format\": \"tapml.site/1\", \"files\": [\"%s\"]}", files[i]);
        scratch_text(&scratch, "site/" SITE_MARKER, marker);
        cr_expect_eq(write_site(two, 2), TAPML_INVALID, "%s", files[i]);
    }
    scratch_text(&scratch, "site/" SITE_MARKER, "{\"format\": \"tapml.site/2\", \"files\": []}");
    cr_assert_eq(write_site(two, 2), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected the list of files of a site"));
    cr_assert(file_exists(scratch_path(&scratch, "letter.txt")));
}

Test(site, a_link_or_a_file_in_the_place_of_a_folder_is_refused)
{
    scratch_text(&scratch, "site", "a file");
    cr_assert_eq(write_site(two, 2), TAPML_INVALID);
    cr_assert_eq(remove(dir), 0);
    MUST(write_site(two, 1));
    cr_assert_eq(remove(scratch_path(&scratch, "site/runs/monday.html")), 0);
    cr_assert_eq(remove(scratch_path(&scratch, "site/runs")), 0);
    cr_assert_eq(symlink("/tmp", scratch_path(&scratch, "site/runs")), 0);
    cr_assert_eq(write_site(two, 1), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "is no folder of a site"));
}

Test(site, what_a_killed_start_has_left_is_its_own)
{
    struct site site;

    MUST(site_begin(dir, two, 2, arena, &site));
    MUST(site_add(&site, 0, report_make()));
    site_release(&site);
    cr_assert(has("runs/monday.html"));
    MUST(write_site(two + 1, 1));
    cr_assert(has("runs/tues_day.html") && !has("runs/monday.html"));
}
