// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a store as text, for a fuzzer to change.
//
// A line is a row, its columns separated by tabs: the table, then `n` for NULL, `i` with an
// integer, `d` with a real, `t` with a text, `x` with bytes in hexadecimal, `k` with the number of
// a line of table `tensor`, whose key it stands for: so contents are reached whose hash must agree.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct store;

// An empty store in memory that takes any row: no key has to refer to anything.
struct store *rows_store(void);

// Adds the rows that the schema takes.
void rows_add(struct store *store, const uint8_t *data, size_t size);
