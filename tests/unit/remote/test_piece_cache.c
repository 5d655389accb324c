// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/scratch.h"
#include "remote/piece_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { BYTES = 1000 };

static struct scratch scratch;
static struct piece_cache *pieces;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    piece_cache_close(pieces);
    scratch_remove(&scratch);
}

TestSuite(piece_cache, .init = setup, .fini = teardown);

static void reopen(uint64_t bytes_max)
{
    piece_cache_close(pieces);
    pieces = NULL;
    MUST(piece_cache_open(scratch_path(&scratch, "cache/host"), bytes_max, &pieces));
}

// Fills a piece with its number and returns its hash.
static struct hash make(int number, unsigned char made[BYTES])
{
    memset(made, number, BYTES);
    return hash_bytes(made, BYTES);
}

static int put(int number)
{
    unsigned char made[BYTES];
    const struct hash hash = make(number, made);
    int is_kept = -1;

    MUST(piece_cache_put(pieces, hash, made, BYTES, &is_kept));
    return is_kept;
}

static tapml_status get(int number)
{
    unsigned char made[BYTES], found[BYTES];
    const struct hash hash = make(number, made);
    const tapml_status status = piece_cache_get(pieces, hash, found, BYTES);

    cr_assert(status != TAPML_OK || memcmp(made, found, BYTES) == 0);
    return status;
}

static size_t count(void)
{
    size_t counted = 0;

    (void)piece_cache_list(pieces, &counted);
    return counted;
}

static const char *path_of(int number)
{
    unsigned char made[BYTES];
    char name[HASH_TEXT + 16] = "cache/host/";

    hash_text(make(number, made), name + strlen(name));
    return scratch_path(&scratch, name);
}

// The piece counts as used that many seconds ago.
static void age(const char *path, time_t seconds)
{
    const time_t then = time(NULL) - seconds;
    const struct timespec times[2] = {{.tv_sec = then}, {.tv_sec = then}};

    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0, "%s", path);
}

static size_t count_files(void)
{
    DIR *folder = opendir(scratch_path(&scratch, "cache/host"));
    size_t counted = 0;

    cr_assert_not_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        counted += entry->d_name[0] != '.';
    }
    (void)closedir(folder);
    return counted;
}

Test(piece_cache, are_kept_from_one_time_to_the_next)
{
    unsigned char made[BYTES];

    reopen(1 << 20);
    cr_assert_eq(count(), 0);
    cr_assert_eq(get(1), TAPML_NOT_FOUND);
    cr_assert(put(1));
    cr_assert(put(2));
    MUST(get(1));
    reopen(1 << 20);
    cr_assert_eq(count(), 2);
    MUST(get(1));
    MUST(get(2));
    size_t counted = 0;
    const struct hash *hashes = piece_cache_list(pieces, &counted);
    const struct hash first = make(1, made), second = make(2, made);

    cr_assert(hash_equal(hashes[0], first) || hash_equal(hashes[1], first));
    cr_assert(hash_equal(hashes[0], second) || hash_equal(hashes[1], second));
    struct stat about;

    cr_assert_eq(stat(path_of(1), &about), 0);
    cr_assert_eq(about.st_mode & 0077, 0, "it is nobody else's");
}

Test(piece_cache, fill_no_more_than_they_may)
{
    reopen(3 * BYTES + 10);
    for (int i = 1; i <= 3; i++) {
        cr_assert(put(i));
    }
    cr_assert_not(put(4));
    cr_assert_eq(count(), 3);
    cr_assert_eq(get(4), TAPML_NOT_FOUND);
    reopen(0);
    cr_assert_eq(count(), 0);
    cr_assert_not(put(1));
    cr_assert_eq(count_files(), 0);
}

Test(piece_cache, used_the_longest_time_ago_go_first)
{
    reopen(1 << 20);
    for (int i = 1; i <= 5; i++) {
        cr_assert(put(i));
        age(path_of(i), 1000 - i);
    }
    MUST(get(1)); // It was used now.
    reopen(3 * BYTES);
    cr_assert_eq(count(), 3);
    MUST(get(1));
    MUST(get(5));
    MUST(get(4));
    cr_assert_eq(get(2), TAPML_NOT_FOUND);
    cr_assert_eq(count_files(), 3);
}

static void expect_removal(int number)
{
    cr_assert_eq(get(number), TAPML_NOT_FOUND);
    cr_assert_eq(access(path_of(number), F_OK), -1, "it is removed");
    cr_assert_eq(get(number), TAPML_NOT_FOUND);
    cr_assert(put(number));
    MUST(get(number));
}

Test(piece_cache, that_are_damaged_are_removed)
{
    reopen(1 << 20);
    for (int i = 1; i <= 3; i++) {
        cr_assert(put(i));
    }
    const int file = open(path_of(1), O_WRONLY);

    cr_assert_eq(pwrite(file, "x", 1, BYTES / 2), 1);
    close(file);
    expect_removal(1);
    cr_assert_eq(truncate(path_of(2), BYTES - 1), 0);
    expect_removal(2);
    cr_assert_eq(truncate(path_of(3), 1 << 19), 0);
    expect_removal(3);
}

Test(piece_cache, of_another_size_are_not_there)
{
    unsigned char made[BYTES], found[BYTES];
    const struct hash hash = make(1, made);

    reopen(1 << 20);
    cr_assert(put(1));
    cr_assert_eq(piece_cache_get(pieces, hash, found, BYTES - 1), TAPML_NOT_FOUND);
}

Test(piece_cache, are_files_and_nothing_else)
{
    reopen(1 << 20);
    cr_assert_eq(mkdir(path_of(1), 0700), 0);
    (void)scratch_text(&scratch, "elsewhere", "secret");
    char target[2 * SCRATCH_PATH];

    (void)snprintf(target, sizeof(target), "%s", scratch.path);
    cr_assert_eq(symlink(target, path_of(2)), 0);
    (void)scratch_text(&scratch, "cache/host/README", "not mine");
    reopen(1 << 20);
    cr_assert_eq(count(), 0);
    cr_assert_eq(get(1), TAPML_NOT_FOUND);
    cr_assert_eq(get(2), TAPML_NOT_FOUND);
    cr_assert_not(put(1));
    cr_assert_eq(access(target, F_OK), 0);
    cr_assert_eq(access(scratch_path(&scratch, "cache/host/README"), F_OK), 0);
}

// What a process leaves that was killed while it wrote.
Test(piece_cache, that_were_not_finished_are_removed_some_time)
{
    static const char *const names[] = {
        "cache/host/0123456789abcdef0123456789abcdef.77", // Of an hour ago,
        "cache/host/0123456789abcdef0123456789abcdef.78", // of now,
        "cache/host/0123456789abcdef0123456789abcdef.7x", // and what is none.
        "cache/host/0123456789abcdef0123456789abcdeg.77", "cache/host/0123456789abcdef.77",
    };

    reopen(1 << 20);
    for (size_t i = 0; i < 5; i++) {
        (void)scratch_text(&scratch, names[i], "some");
        age(scratch.path, i == 1 ? 3000 : 3700);
    }
    reopen(1 << 20);
    cr_assert_eq(count(), 0);
    cr_assert_eq(access(scratch_path(&scratch, names[0]), F_OK), -1);
    for (size_t i = 1; i < 5; i++) {
        cr_assert_eq(access(scratch_path(&scratch, names[i]), F_OK), 0, "%s", names[i]);
    }
}

Test(piece_cache, need_a_folder)
{
    struct piece_cache *none = NULL;

    (void)scratch_text(&scratch, "file", "");
    cr_assert_neq(piece_cache_open(scratch_path(&scratch, "file"), 1, &none), TAPML_OK);
    cr_assert_null(none);
    piece_cache_close(NULL);
}

Test(piece_cache, survive_a_lack_of_memory)
{
    char folder[2 * SCRATCH_PATH];
    struct piece_cache *again = NULL;

    reopen(1 << 20);
    cr_assert(put(1));
    cr_assert(put(2));
    (void)snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "cache/host"));
    SCRATCH_SWEEP(piece_cache_open(folder, 1 << 20, &again));
    piece_cache_close(again);
}
