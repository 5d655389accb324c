// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "harness/scratch.h"
#include "watch/watched_files.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(watched_files, .init = begin, .fini = end, .timeout = 60);

static struct watched_files list_all(void)
{
    struct watched_files files = {.count = 0};

    MUST(watched_files_add_all(&files, scratch.folder, "*"));
    return files;
}

Test(watched_files, lines_are_read_as_they_were_written)
{
    struct watched_files read = {.count = 0};
    struct text text, told;

    scratch_text(&scratch, "b c.ini", "1");
    scratch_text(&scratch, "a.so", "22");
    struct watched_files files = list_all();

    cr_assert_eq(files.count, 2);
    MUST(watched_files_add(&files, files.items[0].path));
    cr_assert_eq(files.count, 2, "each once");
    MUST(watched_files_add(&files, "two\nlines"));
    cr_assert_eq(files.count, 2);
    cr_expect_eq(files.items[0].size, 2);
    text_init(&text);
    text_init(&told);
    watched_files_print(&files, &text);
    text_append(&text, "no line\n1 2\n\n-");
    MUST(watched_files_read(text.data, &read));
    cr_assert_eq(read.count, 2);
    cr_expect_str_eq(read.items[1].path, files.items[1].path);
    cr_expect_eq(watched_files_compare(&files, &read, &told), 0, "%s", told.data);
    text_release(&text);
    text_release(&told);
    watched_files_release(&files);
    watched_files_release(&read);
}

Test(watched_files, what_changed_is_named)
{
    struct text told;

    scratch_text(&scratch, "a", "1");
    scratch_text(&scratch, "b", "1");
    scratch_text(&scratch, "d", "1");
    struct watched_files before = list_all();

    scratch_text(&scratch, "a", "22");
    scratch_text(&scratch, "c", "1");
    (void)unlink(scratch_path(&scratch, "d"));
    struct watched_files now = list_all();

    text_init(&told);
    cr_expect_eq(watched_files_compare(&before, &now, &told), 3);
    cr_expect_str_eq(told.data, "a changed, c is new, d is gone");
    text_release(&told);
    watched_files_release(&before);
    watched_files_release(&now);
}

static int never(void)
{
    return 0;
}

static int at_once(void)
{
    return 1;
}

static double wait_with(const struct watched_files *files, double seconds, int (*is_over)(void))
{
    const uint64_t begin_ns = clock_now_ns();
    sigset_t mask;

    (void)sigemptyset(&mask);
    watched_files_wait(files, seconds, &mask, is_over);
    return (double)(clock_now_ns() - begin_ns) * 1e-9;
}

static void *write_later(void *path)
{
    (void)usleep(200000);
    FILE *file = fopen(path, "w");

    (void)fputs("333", file);
    (void)fclose(file);
    return NULL;
}

// What is read before it is listed may have been read as it was before.
Test(watched_files, what_changes_before_it_is_listed_is_told_by_the_next_list)
{
    struct watched_files files = {.count = 0}, later = {.count = 0};
    struct text told;

    text_init(&told);
    scratch_text(&scratch, "old.ini", "1");
    (void)poll(NULL, 0, 20); // The clock of files ticks 100 times a second at least.
    watched_files_begin(&files);
    scratch_text(&scratch, "run.ini", "2");
    MUST(watched_files_add_all(&files, scratch.folder, "*"));
    (void)poll(NULL, 0, 20);
    watched_files_begin(&later);
    MUST(watched_files_add_all(&later, scratch.folder, "*"));
    cr_assert_eq(watched_files_compare(&files, &later, &told), 1);
    cr_assert_str_eq(told.data, "run.ini changed");
    text_clear(&told);
    watched_files_release(&files);
    files = list_all();
    cr_assert_eq(watched_files_compare(&later, &files, &told), 0, "%s", told.data);
    watched_files_release(&files);
    watched_files_release(&later);
    text_release(&told);
}

Test(watched_files, a_write_ends_the_wait_and_other_files_do_not)
{
    char path[2 * SCRATCH_PATH];
    pthread_t thread;

    scratch_text(&scratch, "a", "1");
    struct watched_files files = list_all();

    cr_expect_geq(wait_with(&files, 0.3, never), 0.29);
    cr_expect_leq(wait_with(&files, 30, at_once), 5);
    (void)snprintf(path, sizeof(path), "%s/other", scratch.folder);
    cr_assert_eq(pthread_create(&thread, NULL, write_later, path), 0);
    cr_expect_geq(wait_with(&files, 1, never), 0.99);
    (void)pthread_join(thread, NULL);
    (void)snprintf(path, sizeof(path), "%s/a", scratch.folder);
    cr_assert_eq(pthread_create(&thread, NULL, write_later, path), 0);
    cr_expect_leq(wait_with(&files, 40, never), 20);
    (void)pthread_join(thread, NULL);
    cr_expect_leq(wait_with(&files, 40, never), 20, "it changed before the wait began");
    watched_files_release(&files);
}
