// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a stream's terminal can show. A stream that is a file or a pipe has none.
#pragma once

// Whether colours are wanted: it is a terminal, TERM is not "dumb", and NO_COLOR is absent or
// empty. [any]
int terminal_wants_colour(int descriptor);

// Columns of the terminal; 0 where there is none, or it does not say. [any]
int terminal_columns(int descriptor);

// The width of a column of a table that also has `word`: `width`, or more where the word is longer,
// so that what stands behind it stays in its column. A word longer than TERMINAL_COLUMN_MAX, as a
// stranger's may be, moves its own line alone. [any]
enum { TERMINAL_COLUMN_MAX = 64 };
int terminal_widen(int width, const char *word);
