// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/near_case.h"

#include "base/arena.h"
#include "base/random.h"
#include "store/case.h"

#include <math.h>
#include <string.h>

tapml_status
near_case_copy(const struct carved_case *item, struct arena *arena, struct carved_case *out_case)
{
    const size_t count = item->argument_count;
    *out_case = *item;
    out_case->arguments = arena_array(arena, count + 1, sizeof(*out_case->arguments));
    if (!out_case->arguments) {
        return status_no_memory();
    }
    memcpy(out_case->arguments, item->arguments, count * sizeof(*out_case->arguments));
    return TAPML_OK;
}

static float moved(float value, double step, struct random *random)
{
    const double share = random_between(random, -1, 1);
    return step > 0 ? (float)(value * (1 + step * share))
                    : nextafterf(value, share < 0 ? -INFINITY : INFINITY);
}

tapml_status near_case_make(const struct carved_case *item,
                            double step,
                            struct random *random,
                            struct arena *arena,
                            struct carved_case *out_case)
{
    TAPML_TRY(near_case_copy(item, arena, out_case));
    for (uint32_t i = 0; i < out_case->argument_count; i++) {
        struct case_argument *argument = &out_case->arguments[i];
        const size_t count = argument->content_bytes / sizeof(float);
        if (!argument->before || argument->dtype != TAPML_F32 ||
            (argument->effects & TAPML_E_WEIGHT) != 0) {
            continue;
        }
        float *values = arena_array(arena, count, sizeof(*values));
        if (!values) {
            return status_no_memory();
        }
        memcpy(values, argument->before, count * sizeof(*values));
        for (size_t k = 0; k < count; k++) {
            values[k] = moved(values[k], step, random);
        }
        argument->before = values;
    }
    return TAPML_OK;
}
