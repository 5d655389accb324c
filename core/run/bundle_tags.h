// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tags by which bundles and packs are found again: words of what a file says of itself and of
// its cases. A key may have several values: a pack has cases of many ops.
//
// Tags of what the cases had run on (target, component, device, driver, verdict, ...) belong
// together: a file of two targets, one of which fails, has no "target=good verdict=fail".
//
// Texts are in the arena that a function is given, and may be a stranger's, without control
// characters. One thread. Failures are those of the store, and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct backend_info;
struct store;

struct bundle_tag {
    const char *key;   // Of bundle_tags_key. Static.
    const char *value; // Not "".
    size_t place;      // 0: of the file; n: of the n-th thing that its cases had run on.
};

struct bundle_tags {
    struct bundle_tag *items; // In the order of the keys; freed by bundle_tags_release.
    size_t count, capacity;
    size_t places;  // How many things its cases had run on.
    uint64_t cases; // In the file.
    char id[HASH_TEXT];
};

// The keys of tags, "id" and "kind" first; NULL past the last. And whether a key is of `place`s.
const char *bundle_tags_key(size_t index);
int bundle_tags_is_of_place(const char *key);

// Whether a store is a bundle or a pack; then it has tags.
int bundle_tags_has(struct store *store);
tapml_status bundle_tags_read(struct store *store,
                              struct arena *arena,
                              struct bundle_tags *out_tags) STATUS_USED;

// Tags of an open backend: what a bundle that ran there would have, its id, kind and verdict
// aside.
tapml_status bundle_tags_of_backend(const struct backend_info *info,
                                    struct arena *arena,
                                    struct bundle_tags *out_tags) STATUS_USED;
void bundle_tags_release(struct bundle_tags *tags);

// The first value of a key, or "".
const char *bundle_tags_first(const struct bundle_tags *tags, const char *key);

// A word such as "op=attention" or "device_name=*RTX*": the value is a glob (`*`, `?`, `[a-c]`),
// that of an op without "tapml." if it has none, and that of an id the begin of one. With '>=' in
// the place of '=' it is the version that the value has at least (text_compare_versions).
struct bundle_condition {
    const char *key; // Static.
    const char *value;
    int is_least;
};

// Whether `word` is meant as a condition: a name, '=' or '>=' and something behind it.
int bundle_tags_is_condition(const char *word);

// Reads it; `value` points into `word`. TAPML_INVALID names the nearest key that there is.
tapml_status bundle_tags_read_condition(const char *word,
                                        struct bundle_condition *out_condition) STATUS_USED;

// Whether tags meet all conditions: those of what the cases had run on at one place.
int bundle_tags_meet(const struct bundle_tags *tags,
                     const struct bundle_condition *conditions,
                     size_t count);
