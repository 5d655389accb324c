// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Looks with what they have seen, in a store without cases: one look each hundred seconds.
#pragma once

#include "harness/open_store.h"
#include "store/look.h"
#include "store/looked.h"
#include "watch/simulation.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

enum { LOOK_S = 100, EVERYTHING = 4 };

static inline int64_t at_look(int64_t look)
{
    return LOOK_S * look;
}

static inline void write_looks(int count)
{
    for (int i = 1; i <= count; i++) {
        int64_t id = 0;

        MUST(look_write(store,
                        &(struct look_row){.began_s = at_look(i),
                                           .ended_s = at_look(i) + 1,
                                           .cause = "",
                                           .fired = "",
                                           .everything = EVERYTHING},
                        &id));
        cr_assert_eq(id, i);
    }
}

static inline void saw(int64_t look,
                       const char *key,
                       const char *cause,
                       int64_t stale_from,
                       const char *before,
                       const char *after)
{
    MUST(looked_write(store, &(struct looked_row){.look = look,
                                                  .target = "gpu",
                                                  .key = key,
                                                  .op = *key == 'a' ? "x.a" : "x.b",
                                                  .cause = cause,
                                                  .stale_s = stale_from * LOOK_S,
                                                  .before = before,
                                                  .after = after,
                                                  .time_ns = 1000000,
                                                  .drift = NAN,
                                                  .time_ratio = NAN}));
}

// A sample whose margin has moved by a factor.
static inline void sampled(int64_t look, const char *key, double drift)
{
    MUST(looked_write(store, &(struct looked_row){.look = look,
                                                  .target = "gpu",
                                                  .key = key,
                                                  .op = *key == 'a' ? "x.a" : "x.b",
                                                  .cause = LOOKED_SAMPLE,
                                                  .before = "pass",
                                                  .after = "pass",
                                                  .time_ns = 1000000,
                                                  .drift = drift,
                                                  .time_ratio = 1}));
}

// Two cases of each of two ops pass at the first look.
static inline void saw_all_pass(void)
{
    static const char *const keys[] = {"a1", "a2", "b1", "b2"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        saw(1, keys[i], LOOKED_NEW, 0, "", "pass");
    }
}
