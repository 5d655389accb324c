// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_check.h"

#include "base/assert.h"

#include <string.h>

static const char *const LEVELS[KIT_LEVEL_COUNT] = {"static", "load",    "contract", "numerics",
                                                    "models", "hostile", "soak"};

const char *kit_check_level_name(enum kit_level level)
{
    ASSERT(level < KIT_LEVEL_COUNT);
    return LEVELS[level];
}

int kit_check_find_level(const char *word)
{
    for (int i = 0; i < KIT_LEVEL_COUNT; i++) {
        if (strcmp(LEVELS[i], word) == 0) {
            return i;
        }
    }
    return -1;
}
