// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Places over backends that a test has opened itself.
#pragma once

#include "exec/space.h"

struct places {
    struct place items[SPACE_PLACES_MAX];
    struct place *list[SPACE_PLACES_MAX];
};

// The list lies in `places`. Weights are those of each session.
static inline struct place *const *places_over(struct places *places,
                                               struct backend *const *backends,
                                               const char *const *names,
                                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        places->items[i] = (struct place){.settings.name = names[i], .backend = backends[i]};
        places->list[i] = &places->items[i];
    }
    return places->list;
}
