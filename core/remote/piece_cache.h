// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A cache of pieces of data by their hashes, in a folder: what a host has sent before it need not
// send again. Each paired key has a folder of its own, so no host learns or spoils what another one
// has sent. One thread a cache; several processes may use a folder.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>

enum { PIECE_BYTES_MAX = 1 << 18 };

struct piece_cache;

// Opens a folder and makes it if need be. Beyond `bytes_max` the pieces that were used the longest
// time ago are removed while it opens, and nothing is added later. So is what a process has left
// that was killed an hour ago or longer, while it wrote. The caller closes it.
tapml_status piece_cache_open(const char *folder,
                              uint64_t bytes_max,
                              struct piece_cache **out_pieces) STATUS_USED;
void piece_cache_close(struct piece_cache *pieces);

// The hashes of all that are there; they live as long as nothing is added.
const struct hash *piece_cache_list(const struct piece_cache *pieces, size_t *out_count);

// Copies a piece to `out_bytes`. TAPML_NOT_FOUND if it is not there, has another size or other
// contents; it is removed then.
tapml_status piece_cache_get(struct piece_cache *pieces,
                             struct hash hash,
                             void *out_bytes,
                             size_t size) STATUS_USED;

// Adds a piece; a full disk or cache is no failure: the piece is left out, and `*out_is_kept` is 0.
tapml_status piece_cache_put(struct piece_cache *pieces,
                             struct hash hash,
                             const void *bytes,
                             size_t size,
                             int *out_is_kept) STATUS_USED;
