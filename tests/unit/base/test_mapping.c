// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../../harness/scratch.h"
#include "base/file.h"
#include "base/mapping.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scratch scratch;

static void set_up(void)
{
    scratch_make(&scratch);
}

static void tear_down(void)
{
    scratch_remove(&scratch);
}

TestSuite(mapping, .init = set_up, .fini = tear_down);

enum { FILE_BYTES = 3 << 16 };

// A mapped file of three times 64 KiB of 'x'.
static const char *map_letters(const char *name, struct file_map *map)
{
    static char letters[FILE_BYTES];
    const char *path = scratch_path(&scratch, name);

    memset(letters, 'x', sizeof(letters));
    cr_assert_eq(file_write(path, letters, sizeof(letters)), TAPML_OK);
    cr_assert_eq(file_map(path, map), TAPML_OK);
    return path;
}

static int count_letters(const struct file_map *map)
{
    int count = 0;

    for (size_t i = 0; i < map->size; i++) {
        count += ((const volatile unsigned char *)map->data)[i] == 'x';
    }
    return count;
}

Test(mapping, a_file_that_is_cut_reads_as_zeros_and_is_reported)
{
    struct file_map map, other;
    (void)map_letters("whole", &other);
    const char *path = map_letters("cut", &map); // Good until the next path.
    cr_assert_eq(mapping_check(), TAPML_OK);
    cr_assert_eq(truncate(path, 1 << 16), 0);
    cr_assert_eq(count_letters(&map), 1 << 16);
    cr_assert_eq(mapping_check(), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), path), "%s", status_message());
    cr_expect_not_null(
        strstr(status_message(), "was 196608 bytes when it was opened and is 65536"));
    cr_assert_eq(truncate(path, FILE_BYTES), 0);
    cr_assert_eq(mapping_check(), TAPML_INVALID, "the zeros have been read");
    file_unmap(&map);
    cr_assert_eq(mapping_check(), TAPML_OK, "it is watched no longer");
    cr_assert_eq(count_letters(&other), FILE_BYTES);
    file_unmap(&other);
}

Test(mapping, a_file_that_is_cut_is_reported_before_anybody_reads)
{
    struct file_map map;
    cr_assert_eq(truncate(map_letters("cut", &map), 7), 0);
    cr_assert_eq(mapping_check(), TAPML_INVALID);
    file_unmap(&map);
}

static void *count_in_thread(void *map)
{
    return (void *)(intptr_t)count_letters(map);
}

Test(mapping, several_threads_may_read_what_is_gone)
{
    pthread_t threads[4];
    struct file_map map;
    cr_assert_eq(truncate(map_letters("cut", &map), 0), 0);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, count_in_thread, &map), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *count = NULL;
        cr_assert_eq(pthread_join(threads[i], &count), 0);
        cr_expect_null(count);
    }
    file_unmap(&map);
}

enum { EXIT_OF_HANDLER = 7 };

static void end_with_code(int number)
{
    _exit(EXIT_OF_HANDLER);
}

Test(mapping, other_memory_is_left_to_the_handler_before)
{
    struct file_map map;
    cr_assert_neq(signal(SIGBUS, end_with_code), SIG_ERR); // Each test is a process of its own.
    const char *path = map_letters("cut", &map);
    const void *unwatched = mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, map.descriptor, 0);
    cr_assert_neq(unwatched, MAP_FAILED);
    cr_assert_eq(truncate(path, 0), 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)*(const volatile char *)unwatched;
        _exit(0);
    }
    int state = 0;
    cr_assert_eq(waitpid(child, &state, 0), child);
    cr_assert(WIFEXITED(state) && WEXITSTATUS(state) == EXIT_OF_HANDLER);
    cr_assert_eq(munmap((void *)(uintptr_t)unwatched, FILE_BYTES), 0);
    file_unmap(&map);
}
