// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Crashes when what its op has queued should be done.
#include "deeds.h"

static int is_queued;

static void crash_if_queued(void)
{
    if (is_queued) {
        deed_crash();
    }
}

#define ZOO_WAIT_DEED(self) crash_if_queued()
#define ZOO_OP_DEED()       (is_queued = 1)
#include "zoo.h"
