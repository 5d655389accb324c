// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/hangs.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/ini.h"
#include "base/text.h"
#include "base/user_folder.h"
#include "plugin/search.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder_name[] = "tapml", file_name[] = "hangs.ini", section[] = "hangs";

struct hang {
    char key[HASH_TEXT]; // Of build and component: shorter than a key of an INI file may be.
    int64_t when_s;
};

struct hangs {
    struct hang items[HANGS_MAX];
    size_t count;
};

static void make_key(const char *build_id, const char *component, char out_key[HASH_TEXT])
{
    struct text text;

    text_init(&text);
    text_format(&text, "%s %s", build_id, component);
    hash_text(hash_bytes(text.data, text.length), out_key);
    text_release(&text);
}

// -- The file ----------------------------------------------------------------------------------

// Whether what is open belongs to this user, and no other can write it.
static int is_own(int descriptor, mode_t kind, struct stat *out_about)
{
    return fstat(descriptor, out_about) == 0 && (out_about->st_mode & S_IFMT) == kind &&
           out_about->st_uid == geteuid() && (out_about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The user's folder of caches, which may be a link of theirs; NULL where there is none.
static char *find_caches(void)
{
    char *caches = NULL;

    return search_is_secure() || user_folder_find(USER_FOLDER_CACHE, "", &caches) != TAPML_OK
               ? NULL
               : caches;
}

// Our folder in it, made if need be; -1: none that can be trusted.
static int open_folder(int makes)
{
    struct stat about;
    char *caches = find_caches();

    if (caches == NULL) {
        return -1;
    }
    if (makes) {
        (void)mkdir(caches, 0700);
    }
    const int outer = open(caches, O_PATH | O_DIRECTORY | O_CLOEXEC);

    alloc_free(caches);
    if (outer < 0) {
        return -1;
    }
    if (makes) {
        (void)mkdirat(outer, folder_name, 0700);
    }
    const int inner = openat(outer, folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    close(outer);
    if (inner >= 0 && !is_own(inner, S_IFDIR, &about)) {
        close(inner);
        return -1;
    }
    return inner;
}

// All bytes of a file that is ours and not too long, with a zero byte behind them; NULL: none.
static char *read_whole(int folder, size_t *out_size)
{
    struct stat about;
    const int file = openat(folder, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int is_right = file >= 0 && is_own(file, S_IFREG, &about) && about.st_nlink == 1 &&
                         about.st_size <= HANGS_BYTES_MAX;
    char *data = is_right ? alloc_array(HANGS_BYTES_MAX + 1, 1) : NULL;
    const ssize_t size = data != NULL ? read(file, data, HANGS_BYTES_MAX) : -1;

    if (file >= 0) {
        close(file);
    }
    if (size < 0) {
        alloc_free(data);
        return NULL;
    }
    data[size] = '\0';
    *out_size = (size_t)size;
    return data;
}

// Takes over what has the form of ours and is not too old, nor of the future.
static void take(struct hangs *hangs, const struct ini_entry *entry, int64_t now_s)
{
    struct hash hash;
    int64_t when_s = 0;

    if (strcmp(entry->section, section) != 0 || !hash_parse(entry->key, &hash) ||
        text_parse_i64(entry->value, &when_s) != TAPML_OK || when_s > now_s ||
        when_s <= now_s - HANGS_DAY_S || hangs->count == HANGS_MAX) {
        return;
    }
    hash_text(hash, hangs->items[hangs->count].key);
    hangs->items[hangs->count++].when_s = when_s;
}

static void read_hangs(int folder, struct hangs *out_hangs)
{
    const int64_t now_s = clock_wall_s();
    struct ini ini = {.arena = NULL};
    size_t size = 0;
    char *data = read_whole(folder, &size);

    out_hangs->count = 0;
    if (data != NULL && ini_parse(file_name, data, size, &ini) == TAPML_OK) {
        for (size_t i = 0; i < ini.count; i++) {
            take(out_hangs, &ini.entries[i], now_s);
        }
    }
    ini_release(&ini);
    alloc_free(data);
}

static int write_all(int file, const struct text *text)
{
    return !text->failed && write(file, text->data, text->length) == (ssize_t)text->length;
}

// Under another name first, so that a reader finds a whole file or none.
static void write_hangs(int folder, const struct hangs *hangs)
{
    char fresh[64];
    struct text text;

    text_init(&text);
    text_format(&text, "[%s]\n", section);
    for (size_t i = 0; i < hangs->count; i++) {
        text_format(&text, "%s = %lld\n", hangs->items[i].key, (long long)hangs->items[i].when_s);
    }
    (void)snprintf(fresh, sizeof(fresh), ".%s.%ld", file_name, (long)getpid());
    (void)unlinkat(folder, fresh, 0); // Of a process of this number that was killed.
    const int file =
        openat(folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (file >= 0) {
        const int is_written = write_all(file, &text);

        if (close(file) != 0 || !is_written || renameat(folder, fresh, folder, file_name) != 0) {
            (void)unlinkat(folder, fresh, 0);
        }
    }
    text_release(&text);
}

// -- The memory --------------------------------------------------------------------------------

int hangs_recall(const char *build_id, const char *component, char out_sentence[HANGS_SENTENCE])
{
    const int folder = open_folder(0);
    char key[HASH_TEXT];
    struct hangs hangs;

    if (folder < 0) {
        return 0;
    }
    make_key(build_id, component, key);
    read_hangs(folder, &hangs);
    close(folder);
    for (size_t i = 0; i < hangs.count; i++) {
        if (strcmp(hangs.items[i].key, key) == 0) {
            (void)snprintf(out_sentence, HANGS_SENTENCE,
                           "its probe hung %lld minutes ago, which is not tried again for a day; "
                           "'tapml-host plugins --again' does at once",
                           (long long)(clock_wall_s() - hangs.items[i].when_s) / 60);
            return 1;
        }
    }
    return 0;
}

// Takes one out: that of `key`, or the oldest if there is no room.
static void make_room(struct hangs *hangs, const char *key)
{
    size_t at = hangs->count == HANGS_MAX ? 0 : hangs->count;

    for (size_t i = 0; i < hangs->count && hangs->count == HANGS_MAX; i++) {
        at = hangs->items[i].when_s < hangs->items[at].when_s ? i : at;
    }
    for (size_t i = 0; i < hangs->count; i++) {
        at = strcmp(hangs->items[i].key, key) == 0 ? i : at;
    }
    if (at < hangs->count) {
        hangs->items[at] = hangs->items[--hangs->count];
    }
}

void hangs_note(const char *build_id, const char *component)
{
    const int folder = open_folder(1);
    char key[HASH_TEXT];
    struct hangs hangs;

    if (folder < 0) {
        return;
    }
    make_key(build_id, component, key);
    read_hangs(folder, &hangs);
    make_room(&hangs, key);
    struct hang *item = &hangs.items[hangs.count++];

    memcpy(item->key, key, sizeof(key));
    item->when_s = clock_wall_s();
    write_hangs(folder, &hangs);
    close(folder);
}

void hangs_forget(void)
{
    const int folder = open_folder(0);

    if (folder >= 0) {
        (void)unlinkat(folder, file_name, 0);
        close(folder);
    }
}
