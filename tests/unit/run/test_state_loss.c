// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/state_loss.h"
#include "store/loss.h"
#include "store/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FACT[] = "model.state.difference";

static size_t losses_of(struct short_setup *run, struct arena *arena, struct loss_row **out_rows)
{
    size_t count = 0;

    SHORT_MUST(loss_list(run->store, arena, out_rows, &count));
    return count;
}

Test(state_loss, nothing_is_lost_in_f32)
{
    struct short_setup run;

    short_setup_open(&run);
    SHORT_MUST(state_loss_run(&run.config, &run.setup, run.store, &run.prompts));
    cr_assert_null(metadata_get(run.store, FACT));
    short_setup_close(&run);
}

Test(state_loss, each_state_is_measured_once)
{
    const struct loss_row weight = {.weight = "w", .relative = 0.5, .largest = 2};
    struct arena *arena = arena_create();
    struct loss_row *rows = NULL;
    struct short_setup run;

    short_setup_open(&run);
    run.config.state = STATE_F16;
    SHORT_MUST(model_set_state(run.setup.model, STATE_F16));
    SHORT_MUST(loss_replace(run.store, &weight, 1));
    SHORT_MUST(state_loss_run(&run.config, &run.setup, run.store, &run.prompts));
    const double difference = strtod(metadata_get(run.store, FACT), NULL);

    cr_assert(difference > 0 && difference < 0.01, "%g", difference);
    const size_t count = losses_of(&run, arena, &rows);

    cr_assert_gt(count, 1);
    cr_assert_str_eq(rows[0].weight, "w", "weights stand first");
    for (size_t i = 1; i < count; i++) {
        const struct graph *graph = model_graph(run.setup.model);
        const uint32_t state = graph_find_value(graph, GRAPH_STATE, rows[i].weight);

        cr_assert_neq(state, GRAPH_NONE, "%s", rows[i].weight);
        cr_assert_eq(graph->values[state].dtype, TAPML_F16, "the model has its type again");
        cr_expect(rows[i].relative > 0 && rows[i].relative < 0x1p-10, "%g", rows[i].relative);
        cr_expect_gt(rows[i].largest, 0);
    }
    SHORT_MUST(loss_replace(run.store, NULL, 0));
    SHORT_MUST(state_loss_run(&run.config, &run.setup, run.store, &run.prompts));
    cr_assert_eq(losses_of(&run, arena, &rows), 0, "it is known already");
    arena_destroy(arena);
    short_setup_close(&run);
}
