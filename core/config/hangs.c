// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/hangs.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/ini.h"
#include "base/text.h"
#include "config/user_cache.h"

#include <stdio.h>
#include <string.h>

static const char file_name[] = "hangs.ini", section[] = "hangs";

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

static void read_hangs(struct hangs *out_hangs)
{
    const int64_t now_s = clock_wall_s();
    struct ini ini = {.arena = NULL};
    size_t size = 0;
    char *data = user_cache_read(file_name, HANGS_BYTES_MAX, &size);

    out_hangs->count = 0;
    if (data != NULL && ini_parse(file_name, data, size, &ini) == TAPML_OK) {
        for (size_t i = 0; i < ini.count; i++) {
            take(out_hangs, &ini.entries[i], now_s);
        }
    }
    ini_release(&ini);
    alloc_free(data);
}

static void write_hangs(const struct hangs *hangs)
{
    struct text text;

    text_init(&text);
    text_format(&text, "[%s]\n", section);
    for (size_t i = 0; i < hangs->count; i++) {
        text_format(&text, "%s = %lld\n", hangs->items[i].key, (long long)hangs->items[i].when_s);
    }
    (void)user_cache_write(file_name, &text); // What is not remembered is tried again.
    text_release(&text);
}

// -- The memory --------------------------------------------------------------------------------

int hangs_recall(const char *build_id, const char *component, char out_sentence[HANGS_SENTENCE])
{
    char key[HASH_TEXT];
    struct hangs hangs;

    make_key(build_id, component, key);
    read_hangs(&hangs);
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
    char key[HASH_TEXT];
    struct hangs hangs;

    make_key(build_id, component, key);
    read_hangs(&hangs);
    make_room(&hangs, key);
    struct hang *item = &hangs.items[hangs.count++];

    memcpy(item->key, key, sizeof(key));
    item->when_s = clock_wall_s();
    write_hangs(&hangs);
}

void hangs_forget(void)
{
    user_cache_remove(file_name);
}
