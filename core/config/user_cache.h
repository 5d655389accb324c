// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Small files in the folder "tapml" of the user's caches (base/user_folder), which this user alone
// can write: what is a link there, or what others can write, is not used. In a process that has
// more rights than its user there are none. What cannot be kept is lost: no function fails a
// command.
//
// Any thread; two processes that write the same file at once leave that of one of them.
#pragma once

#include "base/text.h"

#include <stddef.h>

// All bytes of the file `name` of at most `bytes_max` bytes, with a zero byte behind them; NULL:
// there is none that can be used. Freed by alloc_free.
char *user_cache_read(const char *name, size_t bytes_max, size_t *out_size);

// Writes a file whole or not at all, and makes the folder. Whether it was written.
int user_cache_write(const char *name, const struct text *text);

// Removes a file, if it is there.
void user_cache_remove(const char *name);

// Where it is, for people, in the arena's memory; NULL where there is no such folder.
struct arena;
const char *user_cache_path(const char *name, struct arena *arena);
