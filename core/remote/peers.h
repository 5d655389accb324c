// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The machines that this user has paired, and their keys: `peers.ini` beside the own key, a section
// [peer.NAME] with `key` for each. Any thread; a list belongs to one.
#pragma once

#include "remote/identity.h"

#include <stddef.h>

struct peer {
    const char *name;
    struct identity_hash key;
};

// Zeroed to begin with.
struct peers {
    struct arena *arena; // Has the names.
    struct peer *items;
    size_t count;
};

// Reads the file; without one there are no peers. TAPML_INVALID names file and line.
tapml_status peers_load(const char *folder, struct peers *out_peers) STATUS_USED;
void peers_release(struct peers *peers);

// NULL: there is none.
const struct peer *peers_find_name(const struct peers *peers, const char *name);
const struct peer *peers_find_key(const struct peers *peers, const struct identity_hash *key);

// Whether the file has a key by now, read anew, so that a pairing and its end count at once. Its
// name is written where `out_name` is not NULL. What cannot be read has no peers; the log says why.
enum { PEERS_NAME_BYTES = 64 };
int peers_know(const char *folder,
               const struct identity_hash *key,
               char out_name[PEERS_NAME_BYTES]);

// Adds a peer and writes the file anew; one of the same name or the same key is replaced. A name
// has letters, digits, '.', '_' and '-'.
tapml_status
peers_add(const char *folder, const char *name, const struct identity_hash *key) STATUS_USED;

// TAPML_NOT_FOUND where there is no such peer.
tapml_status peers_remove(const char *folder, const char *name) STATUS_USED;
