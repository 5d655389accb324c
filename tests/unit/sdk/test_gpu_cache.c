// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/scratch.h"

#include <tapml/gpu/cache.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char text[] = "what a driver has compiled";

static size_t live; // Bytes that were taken and not given back.

static void *take(const tapml_host *host, size_t size, size_t align)
{
    void *memory = malloc(size);

    live += memory != NULL ? size : 0;
    return memory;
}

static void give(const tapml_host *host, void *memory, size_t size, size_t align)
{
    live -= memory != NULL ? size : 0;
    free(memory);
}

static const tapml_host_core core = {
    .hdr = TAPML_HDR(tapml_host_core), .alloc = take, .free = give};
static const struct gpu_host host = {.core = &core, .domain = "paper"};

static struct gpu_cache_key key_of(const char *words)
{
    struct gpu_cache_key key = {0};

    gpu_cache_key_add(&key, words, strlen(words));
    return key;
}

// The file of a key, below the folder of caches. Lasts until the next call.
static const char *file_of(struct gpu_cache_key key)
{
    static char name[64];

    (void)snprintf(name, sizeof(name), "tapml/paper/%016llx%016llx", (unsigned long long)key.first,
                   (unsigned long long)key.second);
    return name;
}

// Whether the cache has `text` for the key; it never has anything else.
static int has(const struct gpu_cache_key *key)
{
    struct gpu_text found = {NULL, 0};
    const int is_found = gpu_cache_load(&host, key, &found);

    if (is_found) {
        cr_expect_eq(found.size, sizeof(text));
        cr_expect_arr_eq(found.data, text, sizeof(text));
    }
    gpu_free(&host, found.data, found.size);
    cr_expect_eq(live, 0);
    return is_found;
}

// A folder of caches with one file in it, that of the key.
static struct gpu_cache_key fill(struct scratch *scratch)
{
    const struct gpu_cache_key key = key_of("silu");

    scratch_make(scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch->folder, 1), 0);
    gpu_cache_store(&host, &key, text, sizeof(text));
    cr_assert(has(&key));
    return key;
}

static size_t
read_file(struct scratch *scratch, struct gpu_cache_key key, unsigned char *bytes, size_t room)
{
    FILE *file = fopen(scratch_path(scratch, file_of(key)), "rb");

    cr_assert_not_null(file, "no '%s'", scratch->path);
    const size_t size = fread(bytes, 1, room, file);

    cr_assert_eq(fclose(file), 0);
    return size;
}

Test(gpu_cache, keeps_by_key)
{
    struct scratch scratch;
    const struct gpu_cache_key key = fill(&scratch), other = key_of("sil"), none = {0};
    struct stat info;

    cr_expect(!has(&other) && !has(&none));
    cr_assert_eq(stat(scratch_path(&scratch, file_of(key)), &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0600);
    cr_assert_eq(stat(scratch_path(&scratch, "tapml/paper"), &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0700);
    gpu_cache_store(&host, &other, text, sizeof(text));
    cr_expect(has(&other) && has(&key));
    gpu_cache_store(&host, &none, text, 0); // Nothing is not kept.
    cr_expect(!has(&none));
    scratch_remove(&scratch);
}

Test(gpu_cache, every_changed_byte_and_every_length_is_seen)
{
    unsigned char bytes[256];
    struct scratch scratch;
    const struct gpu_cache_key key = fill(&scratch);
    const size_t size = read_file(&scratch, key, bytes, sizeof(bytes) - 1);

    cr_assert_gt(size, sizeof(text));
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x40;
        (void)scratch_write(&scratch, file_of(key), bytes, size);
        cr_expect(!has(&key), "byte %zu", i);
        bytes[i] ^= 0x40;
        (void)scratch_write(&scratch, file_of(key), bytes, i);
        cr_expect(!has(&key), "cut at %zu", i);
    }
    bytes[size] = 0;
    (void)scratch_write(&scratch, file_of(key), bytes, size + 1);
    cr_expect(!has(&key), "a byte more");
    gpu_cache_store(&host, &key, text, sizeof(text)); // In place of what was corrupted.
    cr_expect(has(&key));
    scratch_remove(&scratch);
}

Test(gpu_cache, a_file_of_another_key_is_not_taken)
{
    unsigned char bytes[256];
    struct scratch scratch;
    const struct gpu_cache_key key = fill(&scratch), other = key_of("sil");
    const size_t size = read_file(&scratch, key, bytes, sizeof(bytes));

    (void)scratch_write(&scratch, file_of(other), bytes, size);
    cr_expect(!has(&other));
    scratch_remove(&scratch);
}

Test(gpu_cache, what_others_can_reach_is_not_read)
{
    unsigned char bytes[256];
    char outside[2 * SCRATCH_PATH];
    struct scratch scratch;
    const struct gpu_cache_key key = fill(&scratch);
    const size_t size = read_file(&scratch, key, bytes, sizeof(bytes));

    cr_assert_eq(chmod(scratch_path(&scratch, file_of(key)), 0620), 0);
    cr_expect(!has(&key), "a file that a group can write");
    cr_assert_eq(chmod(scratch.path, 0600), 0);
    cr_expect(has(&key));
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml/paper"), 0702), 0);
    cr_expect(!has(&key), "a folder that all can write");
    cr_assert_eq(chmod(scratch.path, 0700), 0);

    (void)snprintf(outside, sizeof(outside), "%s", scratch_write(&scratch, "outside", bytes, size));
    cr_assert_eq(unlink(scratch_path(&scratch, file_of(key))), 0);
    cr_assert_eq(symlink(outside, scratch.path), 0);
    cr_expect(!has(&key), "a link");
    cr_assert_eq(unlink(scratch.path), 0);
    cr_assert_eq(mkfifo(scratch.path, 0600), 0);
    cr_expect(!has(&key), "a pipe, which would be waited for");
    scratch_remove(&scratch);
}

Test(gpu_cache, without_a_folder_nothing_is_kept)
{
    const struct gpu_cache_key key = key_of("silu");

    cr_assert_eq(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    cr_assert_eq(unsetenv("HOME"), 0);
    gpu_cache_store(&host, &key, text, sizeof(text));
    cr_expect(!has(&key));
    cr_expect_neq(access("relative", F_OK), 0);
}
