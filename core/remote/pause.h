// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Pauses that grow between tries that fail: 100 ms, twice as long behind each further failure, 5 s
// at most. One thread.
#pragma once

#include <stdint.h>

enum { PAUSE_LEAST_MS = 100, PAUSE_MOST_MS = 5000 };

// Zeroed to begin with: the first try is due at once.
struct pause {
    uint64_t next_ns; // Of clock_now_ns: not before,
    int length_ms;    // and how long that was; 0: nothing has failed.
};

// A try has failed: the next one is due after a longer pause.
void pause_grow(struct pause *pause);

// A try has succeeded, or something has changed: the next one is due at once.
void pause_end(struct pause *pause);

// Milliseconds until a try is due; 0: it is.
int pause_left_ms(const struct pause *pause);
