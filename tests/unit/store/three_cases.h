// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A new store for each test, with three cases of one prompt: 7 and 8 of op x.op, 9 of x.more.
#pragma once

#include "new_store.h"

static const char CASES[] =
    "INSERT INTO run VALUES ('r', 'host', 'machine', 1);"
    "INSERT INTO prompt VALUES ('00000000000000010000000000000002', 0, 't', '[1]', '[2]', 'r');"
    "INSERT INTO \"case\" VALUES (7, x'01', 'a', 'x.op', 1, 'decode', 'x=[1]',"
    " '00000000000000010000000000000002', 3, 0, 1, 'r');"
    "INSERT INTO \"case\" VALUES (8, x'02', 'b', 'x.op', 1, 'decode', 'x=[1]',"
    " '00000000000000010000000000000002', 3, 0, 1, 'r');"
    "INSERT INTO \"case\" VALUES (9, x'03', 'c', 'x.more', 1, 'prefill', 'x=[1]',"
    " '00000000000000010000000000000002', 0, 0, 1, 'r');"
    "INSERT INTO argument (case_id, position, param, kind, effects, dtype) VALUES"
    " (7, 0, 'x', 'in', '', 'f32'), (8, 0, 'x', 'in', '', 'f32'), (9, 0, 'x', 'in', '', 'f32');";

static inline void begin(void)
{
    make_store();
    execute(CASES);
}

static inline void end(void)
{
    remove_store();
}
