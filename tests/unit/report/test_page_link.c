// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "harness/scratch.h"
#include "report/page_link.h"

static struct scratch scratch;
static struct text part;
static char page[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    text_init(&part);
    cr_assert_eq(mkdir(scratch_path(&scratch, "a"), 0755), 0);
    cr_assert_eq(mkdir(scratch_path(&scratch, "ab"), 0755), 0);
    cr_assert_eq(mkdir(scratch_path(&scratch, "a/c d"), 0755), 0);
}

static void end(void)
{
    text_release(&part);
    scratch_remove(&scratch);
}

TestSuite(page_link, .init = begin, .fini = end);

static void expect(const char *from, const char *to, const char *link)
{
    char path[2 * SCRATCH_PATH];

    (void)snprintf(page, sizeof(page), "%s", scratch_path(&scratch, from));
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&scratch, to));
    text_clear(&part);
    cr_assert_eq(page_link_print(page, path, &part), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(part.data, link, "%s to %s", from, to);
}

Test(page_link, leads_from_a_page_to_a_file_beside_it)
{
    expect("index.html", "report.html", "report.html");
    expect("index.html", "a/report.html", "a/report.html");
    expect("a/index.html", "report.html", "../report.html");
    expect("a/index.html", "ab/report.html", "../ab/report.html");
    expect("ab/index.html", "a/report.html", "../a/report.html");
    expect("a/c d/index.html", "ab/r.html", "../../ab/r.html");
    expect("ab/index.html", "a/c d/../r.html", "../a/r.html");
    expect("index.html", "a/c d/r.html", "a/c%20d/r.html");
}

Test(page_link, characters_that_mean_something_do_not)
{
    page_link_encode("a-b_c.d~/?#%\"\xc3\xa4:", &part);
    cr_assert_str_eq(part.data, "a-b_c.d~/%3F%23%25%22%C3%A4%3A");
}

Test(page_link, a_folder_that_is_not_there_is_named)
{
    cr_assert_eq(page_link_print(scratch_path(&scratch, "none/index.html"), "x", &part),
                 TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "none"));
}
