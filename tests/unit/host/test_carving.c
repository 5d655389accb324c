// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/short_setup.h"
#include "host/carving.h"

Test(carving, every_prompt_is_carved_once)
{
    struct short_setup run;
    int64_t *ids = NULL;
    int32_t *greedy = NULL;
    int64_t greedy_count = 0;
    size_t count = 0, again = 0;

    short_setup_open(&run);
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    for (size_t i = 0; i < run.prompts.count; i++) {
        cr_assert(store_has_prompt(run.store, run.prompts.items[i].id));
    }
    SHORT_MUST(store_case_ids(run.store, &ids, &count));
    alloc_free(ids);
    cr_assert_geq(count, 2u * model_graph(run.setup.model)->op_count,
                  "prefill and decode of every instance are kept");
    SHORT_MUST(store_greedy(run.store, run.prompts.items[0].id, &greedy, &greedy_count));
    cr_assert_eq(greedy_count, 3);
    cr_assert_eq(greedy[0], 559, "what expected.json has behind the prompt");
    alloc_free(greedy);
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(store_case_ids(run.store, &ids, &again));
    alloc_free(ids);
    cr_assert_eq(again, count);
    short_setup_close(&run);
}
