// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A new store for each test, with one case, 7, of one prompt, of which one call was kept and one
// was not, and two weights.
#pragma once

#include "new_store.h"

static const char CASES[] = "INSERT INTO run VALUES ('r', 'host', 'machine', 1);"
                            "INSERT INTO prompt VALUES ('p', 2, 't', '[1]', '[2]', 'r');"
                            "INSERT INTO prompt VALUES ('q', NULL, 't', '[1]', NULL, 'r');"
                            "INSERT INTO \"case\" VALUES"
                            " (7, x'01', 'a', 'x.op', 1, 'decode', 'x=[1]', 'p', 3, 0, 1, 'r');"
                            "INSERT INTO call VALUES (1, 'a', 'p', 3, 0, 'decode', 'x=[1]', 40, 1);"
                            "INSERT INTO call VALUES (2, 'a', 'p', 4, 0, 'decode', 'x=[1]', 2, 0);"
                            "INSERT INTO weight VALUES ('w', 'bf16', 64, x'00');"
                            "INSERT INTO weight VALUES ('v', 'bf16', 32, x'00');";

static inline void begin(void)
{
    make_store();
    execute(CASES);
}

static inline void end(void)
{
    remove_store();
}
