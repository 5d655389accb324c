// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/pause.h"

#include "base/clock.h"

enum { MILLISECOND_NS = 1000000 };

void pause_grow(struct pause *pause)
{
    const int longer_ms = pause->length_ms > 0 ? 2 * pause->length_ms : PAUSE_LEAST_MS;

    pause->length_ms = longer_ms < PAUSE_MOST_MS ? longer_ms : PAUSE_MOST_MS;
    pause->next_ns = clock_now_ns() + (uint64_t)pause->length_ms * MILLISECOND_NS;
}

void pause_end(struct pause *pause)
{
    *pause = (struct pause){0, 0};
}

int pause_left_ms(const struct pause *pause)
{
    const uint64_t now_ns = clock_now_ns();

    return now_ns >= pause->next_ns ? 0 : (int)((pause->next_ns - now_ns) / MILLISECOND_NS) + 1;
}
