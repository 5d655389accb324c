// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(file, .init = setup, .fini = teardown);

Test(file, what_is_written_is_read_and_mapped)
{
    const char *path = scratch_path(&scratch, "data");
    cr_assert_eq(file_write(path, "a\0b", 3), TAPML_OK);
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_read(path, 3, &data, &size), TAPML_OK);
    cr_assert_eq(size, 3);
    cr_assert_arr_eq(data, "a\0b", 4); // With the zero byte behind it.
    alloc_free(data);
    struct file_map map;
    char again[4];
    cr_assert_eq(file_map(path, &map), TAPML_OK);
    cr_assert_eq(map.size, 3);
    cr_assert_arr_eq(map.data, "a\0b", 3);
    const int descriptor = map.descriptor;
    cr_assert_eq(pread(descriptor, again, sizeof(again), 1), 2, "others can map it by that");
    file_unmap(&map);
    cr_assert_null(map.data);
    cr_assert_eq(close(descriptor), -1, "it was closed");
}

Test(file, writing_replaces_and_leaves_nothing_beside)
{
    const char *path = scratch_path(&scratch, "data");
    cr_assert_eq(file_write(path, "long text", 9), TAPML_OK);
    cr_assert_eq(file_write(path, "x", 1), TAPML_OK);
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_read(path, 100, &data, &size), TAPML_OK);
    cr_assert_str_eq(data, "x");
    alloc_free(data);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(rmdir(scratch.folder), 0, "something was left");
    cr_assert_eq(mkdir(scratch.folder, 0700), 0);
}

// Bytes of a mapped file that are in the memory of this process.
static uint64_t resident_bytes(const struct file_map *map)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    uintptr_t begin = 0, end = 0;
    uint64_t kib = 0;
    int is_ours = 0;
    char line[512];
    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
            is_ours = begin == (uintptr_t)map->data;
        } else if (is_ours && sscanf(line, "Rss: %" SCNu64, &kib) == 1) {
            break;
        }
    }
    fclose(file);
    return kib << 10;
}

Test(file, what_is_left_alone_leaves_memory_and_comes_back)
{
    enum { PAGE = 1 << 12, SIZE = 64 * PAGE };
    static unsigned char bytes[SIZE];
    const char *path = scratch_path(&scratch, "data");
    struct file_map map;
    memset(bytes, 7, sizeof(bytes));
    cr_assert_eq(file_write(path, bytes, sizeof(bytes)), TAPML_OK);
    cr_assert_eq(file_map(path, &map), TAPML_OK);
    cr_expect_arr_eq(map.data, bytes, SIZE);
    const uint64_t before = resident_bytes(&map);
    file_map_leave(&map, map.data + 1, SIZE - 2 * PAGE);
    cr_expect_leq(resident_bytes(&map) + (uint64_t)SIZE / 2, before);
    cr_expect_arr_eq(map.data, bytes, SIZE);
    file_map_leave(&map, bytes, SIZE); // Not of the map: it stays.
    cr_expect_eq(bytes[SIZE / 2], 7);
    file_unmap(&map);
}

Test(file, an_empty_file_is_fine)
{
    const char *path = scratch_text(&scratch, "empty", "");
    struct file_map map;
    cr_assert_eq(file_map(path, &map), TAPML_OK);
    cr_assert_eq(map.size, 0);
    cr_assert_null(map.data);
    file_unmap(&map);
    char *data = NULL;
    size_t size = 1;
    cr_assert_eq(file_read(path, 0, &data, &size), TAPML_OK);
    cr_assert_eq(size, 0);
    cr_assert_str_eq(data, "");
    alloc_free(data);
}

Test(file, a_file_above_the_limit_is_refused)
{
    char *data = NULL;
    size_t size = 0;
    const char *path = scratch_text(&scratch, "data", "12345");
    cr_assert_eq(file_read(path, 4, &data, &size), TAPML_INVALID);
    cr_assert_null(data);
    cr_assert_not_null(strstr(status_message(), path));
}

Test(file, absent_files_and_folders_are_refused_by_name)
{
    struct file_map map;
    const char *path = scratch_path(&scratch, "absent");
    cr_assert_eq(file_map(path, &map), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), path));
    cr_assert_eq(file_map(scratch.folder, &map), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "folder"));
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_read(scratch.folder, 100, &data, &size), TAPML_INVALID);
    cr_assert_eq(file_write(scratch_path(&scratch, "no/such"), "x", 1), TAPML_NOT_FOUND);
}

Test(file, a_pipe_is_refused_and_not_waited_for)
{
    struct file_map map;
    const char *path = scratch_path(&scratch, "pipe");
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(file_map(path, &map), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected a file, found a pipe"));
    cr_assert_eq(file_map("/dev/zero", &map), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected a file, found a device"));
}

Test(file, a_device_is_written_to_and_stays_one)
{
    struct stat about;
    cr_assert_eq(file_try_writing("/dev/null"), TAPML_OK);
    cr_assert_eq(file_write("/dev/null", "text", 4), TAPML_OK);
    cr_assert_eq(stat("/dev/null", &about), 0);
    cr_assert(S_ISCHR(about.st_mode));
}

Test(file, a_device_without_room_says_so_before_and_when_written)
{
    cr_assert_eq(file_try_writing("/dev/full"), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "/dev/full: cannot write to it: the disk is full"));
    cr_assert_eq(file_write("/dev/full", "text", 4), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "cannot write its 4 bytes: the disk is full"));
}

Test(file, what_the_standard_output_is_takes_what_is_written_behind_what_was_printed)
{
    const char *path = scratch_path(&scratch, "printed");
    char *data = NULL;
    size_t size = 0;
    cr_assert_not_null(freopen(path, "w", stdout));
    cr_assert_gt(printf("before "), 0);
    cr_assert_eq(file_try_writing(path), TAPML_OK);
    cr_assert_eq(file_write("/dev/stdout", "and here", 8), TAPML_OK);
    cr_assert_eq(file_read(path, 100, &data, &size), TAPML_OK);
    cr_assert_str_eq(data, "before and here");
    alloc_free(data);
}

Test(file, trying_leaves_nothing_and_says_what_writing_would)
{
    const char *path = scratch_path(&scratch, "data");
    cr_assert_eq(file_try_writing(path), TAPML_OK);
    cr_assert_eq(rmdir(scratch.folder), 0, "something was left");
    cr_assert_eq(file_try_writing(path), TAPML_NOT_FOUND);
    cr_assert_eq(mkdir(scratch.folder, 0700), 0);
    cr_assert_eq(file_try_writing(scratch.folder), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected a file to write, found a folder"));
    path = scratch_text(&scratch, "old", "old text");
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_try_writing(path), TAPML_OK);
    cr_assert_eq(file_read(path, 100, &data, &size), TAPML_OK);
    cr_assert_str_eq(data, "old text");
    alloc_free(data);
}

Test(file, a_pipe_that_nobody_reads_is_not_waited_for_before)
{
    const char *path = scratch_path(&scratch, "pipe");
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(file_try_writing(path), TAPML_OK);
}

Test(file, a_link_to_nowhere_is_there_and_says_so_when_opened)
{
    struct file_map map;
    const char *path = scratch_path(&scratch, "link");
    cr_assert_eq(symlink("link", path), 0);
    cr_assert(file_exists(path));
    cr_assert_eq(file_map(path, &map), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "symbolic links"), "%s", status_message());
}

Test(file, folders_are_made_with_those_above)
{
    const char *path = scratch_path(&scratch, "a/b/c");
    cr_assert_not(file_exists(path));
    cr_assert_eq(file_make_folder(path), TAPML_OK);
    cr_assert_eq(file_make_folder(path), TAPML_OK);
    cr_assert(file_exists(path));
    cr_assert(file_is_folder(path));
    path = scratch_text(&scratch, "file", "x");
    cr_assert_not(file_is_folder(path));
    cr_assert_eq(file_make_folder(path), TAPML_INVALID);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "file/below")), TAPML_INVALID);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "d//e/")), TAPML_OK);
}

static void expect_join(const char *folder, const char *name, const char *expected)
{
    char *path = file_join(folder, name);
    cr_assert_str_eq(path, expected);
    alloc_free(path);
}

static void expect_folder(const char *path, const char *expected)
{
    char *folder = file_folder(path);
    cr_assert_str_eq(folder, expected);
    alloc_free(folder);
}

Test(file, paths_are_joined_and_taken_apart)
{
    expect_join("a", "b", "a/b");
    expect_join("a/", "b", "a/b");
    expect_join("", "b", "b");
    expect_join("a", "/b", "/b");
    expect_join("/", "b", "/b");
    expect_folder("a/b/c", "a/b");
    expect_folder("a/b/", "a");
    expect_folder("c", ".");
    expect_folder("/c", "/");
    expect_folder("/", "/");
    expect_folder("a//b", "a");
}

static tapml_status write_and_read(void)
{
    char *data = NULL;
    size_t size = 0;
    TAPML_TRY(file_write(scratch.path, "12345", 5));
    TAPML_TRY(file_read(scratch.path, 5, &data, &size));
    alloc_free(data);
    return file_make_folder(scratch.folder);
}

Test(file, survives_without_memory)
{
    (void)scratch_path(&scratch, "data");
    SCRATCH_SWEEP(write_and_read());
}

Test(file, where_there_is_no_room_the_old_file_stays)
{
    const struct rlimit limit = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
    const char *path = scratch_path(&scratch, "data");
    char large[200] = "";
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_write(path, "old", 3), TAPML_OK);
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_assert_eq(file_write(path, large, sizeof(large)), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(),
                              "cannot write its 200 bytes: the limit on the size of "
                              "files (ulimit -f) of 100 bytes is reached"),
                       "%s", status_message());
    cr_assert_eq(file_read(path, 10, &data, &size), TAPML_OK);
    cr_assert_str_eq(data, "old");
    alloc_free(data);
}

Test(file, what_says_that_there_is_no_room)
{
    char why[FILE_WHY_TEXT];
    cr_assert(file_is_full(ENOSPC, scratch_path(&scratch, "x"), why));
    cr_assert_eq(strncmp(why, "the disk is full (", 18), 0, "%s", why);
    cr_assert(file_is_full(ENOSPC, "/no/such/folder/x", why));
    cr_assert_str_eq(why, "the disk is full");
    cr_assert(file_is_full(EDQUOT, "x", why));
    cr_assert(!file_is_full(EACCES, "x", why));
}

Test(file, only_what_matches_is_removed)
{
    cr_assert_eq(file_write(scratch_path(&scratch, "a.part"), "", 0), TAPML_OK);
    cr_assert_eq(file_write(scratch_path(&scratch, "a.txt"), "", 0), TAPML_OK);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "b.part")), TAPML_OK);
    file_remove_all(scratch.folder, "*.part");
    file_remove_all(scratch_path(&scratch, "none"), "*");
    cr_assert(!file_exists(scratch_path(&scratch, "a.part")));
    cr_assert(file_exists(scratch_path(&scratch, "a.txt")));
    cr_assert(file_is_folder(scratch_path(&scratch, "b.part")));
}

Test(file, a_move_takes_the_place_of_what_is_there)
{
    char from[2 * SCRATCH_PATH];
    char *data = NULL;
    size_t size = 0;
    (void)snprintf(from, sizeof(from), "%s", scratch_text(&scratch, "from", "new"));
    const char *to = scratch_text(&scratch, "to", "old");
    cr_assert_eq(file_move(from, to), TAPML_OK, "%s", status_message());
    cr_assert(!file_exists(from));
    cr_assert_eq(file_read(to, 10, &data, &size), TAPML_OK);
    cr_assert_str_eq(data, "new");
    alloc_free(data);
    cr_assert_eq(file_move(from, to), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "cannot move a file there"), "%s",
                       status_message());
}

Test(file, the_program_that_runs_has_a_file)
{
    char path[PATH_MAX], small[4];
    const char *found = file_of_program(path, sizeof(path));
    cr_assert_not_null(found);
    cr_expect_eq(found[0], '/');
    cr_expect_not_null(strstr(found, "test_base"), "%s", found);
    cr_expect_null(file_of_program(small, sizeof(small)));
}
