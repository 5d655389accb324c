// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forgetting.h"

#include "store/blame.h"
#include "store/bundled.h"
#include "store/derived.h"
#include "store/invariant.h"
#include "store/offloaded.h"
#include "store/result.h"
#include "store/stage.h"
#include "store/step.h"
#include "store/timing.h"

typedef tapml_status (*forget_fn)(struct store *store, const char *target);

static tapml_status
forget_all(struct store *store, const char *target, const forget_fn *tables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(tables[i](store, target));
    }
    return TAPML_OK;
}

tapml_status forgetting_steps(struct store *store, const char *target)
{
    static const forget_fn tables[] = {step_forget, offloaded_forget, blame_forget, timing_forget,
                                       bundled_forget};

    return forget_all(store, target, tables, sizeof(tables) / sizeof(*tables));
}

tapml_status forgetting_results(struct store *store, const char *target)
{
    static const forget_fn tables[] = {result_forget, derived_forget, invariant_forget,
                                       stage_forget};

    return forget_all(store, target, tables, sizeof(tables) / sizeof(*tables));
}
