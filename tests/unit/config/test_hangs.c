// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "config/hangs.h"
#include "harness/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct scratch scratch;
static char sentence[HANGS_SENTENCE];

static void setup(void)
{
    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(hangs, .init = setup, .fini = teardown);

static int recall(const char *build_id)
{
    return hangs_recall(build_id, "gpu", sentence);
}

// The file with this text, in a folder of ours.
static const char *write_file(const char *text)
{
    (void)mkdir(scratch_path(&scratch, "tapml"), 0700);
    (void)scratch_text(&scratch, "tapml/hangs.ini", text);
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml/hangs.ini"), 0600), 0);
    return scratch.path;
}

// A line that says that a component hung.
static const char *line_of(const char *build_id, long long when_s)
{
    static char line[128];
    char words[128], key[HASH_TEXT];

    (void)snprintf(words, sizeof(words), "%s gpu", build_id);
    hash_text(hash_bytes(words, strlen(words)), key);
    (void)snprintf(line, sizeof(line), "[hangs]\n%s = %lld\n", key, when_s);
    return line;
}

Test(hangs, are_remembered_by_build_and_component_until_they_are_forgotten)
{
    cr_assert_not(recall("abc"));
    cr_assert_not(file_exists(scratch_path(&scratch, "tapml")), "nothing is made to look");
    hangs_forget();
    hangs_note("abc", "gpu");
    hangs_note("abc", "gpu");
    hangs_note("def", "npu");
    cr_assert(recall("abc"));
    cr_assert_not_null(strstr(sentence, "hung 0 minutes ago"), "%s", sentence);
    cr_assert_not_null(strstr(sentence, "plugins --again"), "%s", sentence);
    cr_assert_not(recall("def"));
    cr_assert_not(recall("ab"));
    cr_assert(hangs_recall("def", "npu", sentence));
    hangs_forget();
    cr_assert_not(recall("abc"));
}

Test(hangs, only_the_user_can_read_what_is_written)
{
    struct stat about;

    hangs_note("abc", "gpu");
    cr_assert_eq(stat(scratch_path(&scratch, "tapml"), &about), 0);
    cr_assert_eq(about.st_mode & 0777, 0700u);
    cr_assert_eq(stat(scratch_path(&scratch, "tapml/hangs.ini"), &about), 0);
    cr_assert_eq(about.st_mode & 0777, 0600u);
}

Test(hangs, end_after_a_day)
{
    const long long now_s = clock_wall_s();

    (void)write_file(line_of("abc", now_s - HANGS_DAY_S + 60));
    cr_assert(recall("abc"));
    cr_assert_not_null(strstr(sentence, "hung 1439 minutes ago"), "%s", sentence);
    (void)write_file(line_of("abc", now_s - HANGS_DAY_S - 1));
    cr_assert_not(recall("abc"));
    (void)write_file(line_of("abc", now_s + 3600));
    cr_assert_not(recall("abc"), "of a clock that went wrong");
}

Test(hangs, no_more_than_so_many_are_kept_and_the_oldest_goes)
{
    char text[HANGS_BYTES_MAX + 1] = "", name[16];
    size_t length = 0;
    const long long now_s = clock_wall_s();

    for (int i = 0; i < HANGS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        const int size = snprintf(text + length, sizeof(text) - length, "%s",
                                  line_of(name, now_s - 10 - (i == 7 ? 100 : i)));

        length += (size_t)size;
    }
    cr_assert_lt(length, sizeof(text));
    (void)write_file(text);
    cr_assert(recall("b7") && recall("b63"));
    hangs_note("new", "gpu");
    cr_assert(recall("new") && recall("b63") && recall("b0"));
    cr_assert_not(recall("b7"));
}

Test(hangs, what_is_no_line_of_ours_is_passed_over)
{
    char text[512];

    (void)snprintf(text, sizeof(text),
                   "%s[hangs]\nabc = 1\n00000000000000000000000000000000 = x\n[other]\na = b\n",
                   line_of("abc", clock_wall_s()));
    (void)write_file(text);
    cr_assert(recall("abc"));
    (void)write_file("[hangs\n");
    cr_assert_not(recall("abc"));
    hangs_note("abc", "gpu");
    cr_assert(recall("abc"), "it is written anew");
}

static void expect_refused(const char *why)
{
    cr_expect_not(recall("abc"), "%s", why);
    hangs_note("def", "gpu");
    cr_expect_not(recall("def"), "%s: it is not used", why);
}

// What others could have put there.
Test(hangs, a_folder_that_others_can_write_or_that_is_a_link_is_not_used)
{
    (void)write_file(line_of("abc", clock_wall_s()));
    cr_assert(recall("abc"));
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml"), 0777), 0);
    expect_refused("a folder of all");
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml"), 0700), 0);
    char to[SCRATCH_PATH];

    (void)snprintf(to, sizeof(to), "%s", scratch_path(&scratch, "elsewhere"));
    cr_assert_eq(rename(scratch_path(&scratch, "tapml"), to), 0);
    cr_assert_eq(symlink(to, scratch_path(&scratch, "tapml")), 0);
    expect_refused("a link");
    cr_assert_eq(unlink(scratch_path(&scratch, "tapml")), 0);
    (void)scratch_text(&scratch, "tapml", "a file");
    expect_refused("a file");
}

Test(hangs, a_file_that_is_not_plainly_ours_is_not_read)
{
    char to[SCRATCH_PATH];
    static char large[HANGS_BYTES_MAX + 2];

    (void)write_file(line_of("abc", clock_wall_s()));
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml/hangs.ini"), 0666), 0);
    cr_expect_not(recall("abc"), "all can write it");
    (void)snprintf(to, sizeof(to), "%s", write_file(line_of("abc", clock_wall_s())));
    cr_assert_eq(link(to, scratch_path(&scratch, "second")), 0);
    cr_expect_not(recall("abc"), "it has a second name");
    cr_assert_eq(rename(to, scratch_path(&scratch, "elsewhere")), 0);
    cr_assert_eq(unlink(scratch_path(&scratch, "second")), 0);
    cr_assert_eq(symlink(scratch_path(&scratch, "elsewhere"), to), 0);
    cr_expect_not(recall("abc"), "it is a link");
    cr_assert_eq(unlink(to), 0);
    cr_assert_eq(mkfifo(to, 0600), 0);
    cr_expect_not(recall("abc"), "it is a pipe");
    cr_assert_eq(unlink(to), 0);
    (void)snprintf(large, sizeof(large), "%s", line_of("abc", clock_wall_s()));
    memset(large + strlen(large), '\n', sizeof(large) - 1 - strlen(large));
    (void)write_file(large);
    cr_expect_not(recall("abc"), "it is too long");
}

// A link is replaced, and what it leads to stays as it is.
Test(hangs, a_link_is_not_written_through)
{
    char *data = NULL;
    size_t size = 0;
    char to[SCRATCH_PATH];

    (void)write_file("");
    (void)snprintf(to, sizeof(to), "%s", scratch_text(&scratch, "precious", "precious"));
    cr_assert_eq(unlink(scratch_path(&scratch, "tapml/hangs.ini")), 0);
    cr_assert_eq(symlink(to, scratch_path(&scratch, "tapml/hangs.ini")), 0);
    hangs_note("abc", "gpu");
    cr_assert(recall("abc"));
    cr_assert_eq(file_read(to, 100, &data, &size), TAPML_OK);
    cr_assert_str_eq(data, "precious");
    alloc_free(data);
}

Test(hangs, need_a_folder_of_the_user)
{
    cr_assert_eq(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    cr_assert_eq(setenv("HOME", scratch.folder, 1), 0);
    hangs_note("abc", "gpu");
    cr_assert(recall("abc"));
    cr_assert(file_exists(scratch_path(&scratch, ".cache/tapml/hangs.ini")));
    cr_assert_eq(unsetenv("HOME"), 0);
    cr_assert_not(recall("abc"));
    hangs_note("abc", "gpu");
    hangs_forget();
}
