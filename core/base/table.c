// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/table.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

enum { FIRST_CAPACITY = 16 };

struct table_entry {
    char *key; // NULL: free.
    uint64_t hash;
    size_t value;
};

void table_init(struct table *table)
{
    *table = (struct table){0};
}

void table_release(struct table *table)
{
    if (!table) {
        return;
    }
    for (size_t i = 0; i < table->capacity; ++i) {
        alloc_free(table->entries[i].key);
    }
    alloc_free(table->entries);
    table_init(table);
}

// The entry of `key`, or the free one where it belongs. There always is a free one.
static struct table_entry *entry_of(const struct table *table, const char *key, uint64_t hash)
{
    size_t at = (size_t)hash & (table->capacity - 1);
    for (;;) {
        struct table_entry *entry = &table->entries[at];
        if (!entry->key || (entry->hash == hash && strcmp(entry->key, key) == 0)) {
            return entry;
        }
        at = (at + 1) & (table->capacity - 1);
    }
}

static uint64_t hash_of(const char *key)
{
    return hash_bytes(key, strlen(key)).low;
}

static tapml_status grow(struct table *table)
{
    struct table larger = {.count = table->count};
    larger.capacity = table->capacity > 0 ? table->capacity * 2 : FIRST_CAPACITY;
    larger.entries = alloc_array(larger.capacity, sizeof(*larger.entries));
    if (!larger.entries) {
        return status_no_memory();
    }
    for (size_t i = 0; i < table->capacity; ++i) {
        const struct table_entry *entry = &table->entries[i];
        if (entry->key) {
            *entry_of(&larger, entry->key, entry->hash) = *entry;
        }
    }
    alloc_free(table->entries);
    *table = larger;
    return TAPML_OK;
}

tapml_status table_set(struct table *table, const char *key, size_t value)
{
    if (table->count * 4 >= table->capacity * 3) {
        TAPML_TRY(grow(table));
    }
    const uint64_t hash = hash_of(key);
    struct table_entry *entry = entry_of(table, key, hash);
    if (!entry->key) {
        char *copy = alloc_text(key);
        if (!copy) {
            return status_no_memory();
        }
        entry->key = copy;
        entry->hash = hash;
        ++table->count;
    }
    entry->value = value;
    return TAPML_OK;
}

int table_find(const struct table *table, const char *key, size_t *out_value)
{
    if (table->capacity == 0) {
        return 0;
    }
    const struct table_entry *entry = entry_of(table, key, hash_of(key));
    if (entry->key) {
        *out_value = entry->value;
    }
    return entry->key != NULL;
}
