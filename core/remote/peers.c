// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/peers.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const char file_name[] = "peers.ini";
static const char section_prefix[] = "peer.";
enum { NAME_MAX_BYTES = 40 };

static tapml_status
take_entry(const struct ini *ini, const struct ini_entry *entry, struct peer *peer)
{
    const size_t prefix = sizeof(section_prefix) - 1;

    if (strncmp(entry->section, section_prefix, prefix) != 0 || strcmp(entry->key, "key") != 0) {
        return status_fail(TAPML_INVALID, "%s:%u: expected 'key' in a section [%sNAME]", ini->name,
                           entry->line, section_prefix);
    }
    peer->name = entry->section + prefix;
    return identity_parse(entry->value, &peer->key)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s:%u: the key of '%s' is not 64 hexadecimal digits",
                             ini->name, entry->line, peer->name);
}

static tapml_status take_all(const struct ini *ini, struct peers *peers)
{
    peers->items = arena_array(peers->arena, ini->count + 1, sizeof(*peers->items));
    if (peers->items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < ini->count; i++) {
        struct peer peer;

        TAPML_TRY(take_entry(ini, &ini->entries[i], &peer));
        peer.name = arena_text(peers->arena, peer.name);
        if (peer.name == NULL) {
            return status_no_memory();
        }
        peers->items[peers->count++] = peer;
    }
    return TAPML_OK;
}

tapml_status peers_load(const char *folder, struct peers *out_peers)
{
    struct peers peers = {.arena = arena_create()};
    char *path = file_join(folder, file_name);
    tapml_status status = peers.arena != NULL && path != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK && file_exists(path)) {
        struct ini ini = {.arena = NULL};

        status = ini_load(path, &ini);
        status = status == TAPML_OK ? take_all(&ini, &peers) : status;
        ini_release(&ini);
    }
    alloc_free(path);
    if (status != TAPML_OK) {
        peers_release(&peers);
        return status;
    }
    *out_peers = peers;
    return TAPML_OK;
}

void peers_release(struct peers *peers)
{
    arena_destroy(peers->arena);
    *peers = (struct peers){.arena = NULL};
}

const struct peer *peers_find_name(const struct peers *peers, const char *name)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (strcmp(peers->items[i].name, name) == 0) {
            return &peers->items[i];
        }
    }
    return NULL;
}

const struct peer *peers_find_key(const struct peers *peers, const struct identity_hash *key)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (identity_equal(&peers->items[i].key, key)) {
            return &peers->items[i];
        }
    }
    return NULL;
}

int peers_know(const char *folder, const struct identity_hash *key, char out_name[PEERS_NAME_BYTES])
{
    struct peers peers = {.arena = NULL};

    if (peers_load(folder, &peers) != TAPML_OK) {
        log_line(LOG_ERROR, "%s", status_message());
        return 0;
    }
    const struct peer *peer = peers_find_key(&peers, key);
    const int is_found = peer != NULL;

    if (is_found && out_name != NULL) {
        (void)snprintf(out_name, PEERS_NAME_BYTES, "%s", peer->name);
    }
    peers_release(&peers);
    return is_found;
}

static void append(struct text *text, const char *name, const struct identity_hash *key)
{
    char digits[IDENTITY_HEX_TEXT];

    identity_hex(key, digits);
    text_format(text, "[%s%s]\nkey = %s\n", section_prefix, name, digits);
}

// Writes the file with all peers but those of `name` and `key`; then `name`, if there is a key.
static tapml_status
rewrite(const char *folder, const char *name, const struct identity_hash *key, size_t *out_left_out)
{
    struct peers peers = {.arena = NULL};
    struct text text;
    char *path = file_join(folder, file_name);
    tapml_status status = path != NULL ? peers_load(folder, &peers) : status_no_memory();

    text_init(&text);
    text_append(&text, "# Machines that this user has paired: their names here, and their keys.\n");
    *out_left_out = 0;
    for (size_t i = 0; i < peers.count; i++) {
        const struct peer *peer = &peers.items[i];

        if (strcmp(peer->name, name) == 0 || (key != NULL && identity_equal(&peer->key, key))) {
            ++*out_left_out;
        } else {
            append(&text, peer->name, &peer->key);
        }
    }
    if (key != NULL) {
        append(&text, name, key);
    }
    status = status == TAPML_OK ? text_status(&text) : status;
    if (status == TAPML_OK && (key != NULL || *out_left_out > 0)) {
        status = file_write(path, text.data, text.length);
    }
    peers_release(&peers);
    text_release(&text);
    alloc_free(path);
    return status;
}

tapml_status peers_add(const char *folder, const char *name, const struct identity_hash *key)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = strlen(name);
    size_t left_out = 0;

    if (length == 0 || length > NAME_MAX_BYTES || strspn(name, letters) != length) {
        return status_fail(TAPML_INVALID,
                           "'%.60s' is no name of a peer: expected 1 to %d letters, digits, '.', "
                           "'_' and '-'",
                           name, NAME_MAX_BYTES);
    }
    return rewrite(folder, name, key, &left_out);
}

tapml_status peers_remove(const char *folder, const char *name)
{
    size_t left_out = 0;

    TAPML_TRY(rewrite(folder, name, NULL, &left_out));
    return left_out > 0 ? TAPML_OK
                        : status_fail(TAPML_NOT_FOUND, "there is no peer '%s' in %s/%s", name,
                                      folder, file_name);
}
