// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Opens stores: makes the tables of a new one, checks those of an old one, and brings one of an
// earlier version to this one.
//
// All functions return a handle that the caller closes with `store_close`. They follow no link:
// TAPML_INVALID. TAPML_NOT_FOUND if there is no file, unless the function makes one. A file that is
// no store, that is damaged or of a newer version is TAPML_INVALID with its path.
#pragma once

#include "base/status.h"

// The bytes of a page in the file of a new store: what the system does for a page that is written
// is the same for small and for large ones. A store keeps the size that it was made with.
enum { STORE_OPEN_PAGE_BYTES = 16 << 10 };

struct store;
struct pages_replacement;

// Opens a store to write; if `create`, an absent one is made. A file of an earlier version becomes
// one of this version.
tapml_status store_open(const char *path, int create, struct store **out_store) STATUS_USED;

// The same with `create`; a new store gets pages of `page_bytes`, a power of two from 512 to 65536.
tapml_status
store_open_sized(const char *path, int page_bytes, struct store **out_store) STATUS_USED;

// Opens a store to look at it, while a host works on it or after. Nothing is written or made, in
// the file and beside it, so its folder may be read-only; nothing waits. One of an earlier version
// reads as one of this version (store/migrate.h). The folder of a run stands for its store.
tapml_status store_open_to_read(const char *path, struct store **out_store) STATUS_USED;

// The same of a damaged one: pages of `replacement`, which is borrowed until the store is closed,
// are read instead of its own (store/salvage.h).
tapml_status store_open_damaged(const char *path,
                                const struct pages_replacement *replacement,
                                struct store **out_store) STATUS_USED;
