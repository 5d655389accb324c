// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/stored_case.h"

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
        cr_assert(prompt_is_carved(run.store, run.prompts.items[i].id));
    }
    SHORT_MUST(stored_case_ids(run.store, &ids, &count));
    alloc_free(ids);
    cr_assert_geq(count, 2u * model_graph(run.setup.model)->op_count,
                  "prefill and decode of every instance are kept");
    SHORT_MUST(prompt_greedy(run.store, run.prompts.items[0].id, &greedy, &greedy_count));
    cr_assert_eq(greedy_count, 3);
    cr_assert_eq(greedy[0], 559, "what expected.json has behind the prompt");
    alloc_free(greedy);
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(stored_case_ids(run.store, &ids, &again));
    alloc_free(ids);
    cr_assert_eq(again, count);
    short_setup_close(&run);
}

static int64_t number_of(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK,
                 "%s", sqlite3_errmsg(store_connection(store)));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

// What a salvage leaves out in front of prompts that it keeps.
Test(carving, a_missing_prompt_gets_the_same_cases_again)
{
    struct short_setup run;
    char *message = NULL;

    short_setup_open(&run);
    cr_assert_geq(run.prompts.count, 2);
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    sqlite3_exec(store_connection(run.store),
                 "CREATE TEMP TABLE had AS SELECT instance, prompt, step, part FROM \"case\";"
                 "CREATE TEMP TABLE gone AS SELECT hash FROM prompt WHERE position = 0;"
                 "DELETE FROM \"case\" WHERE prompt IN gone;"
                 "DELETE FROM call WHERE prompt IN gone;"
                 "DELETE FROM prompt WHERE hash IN gone;",
                 NULL, NULL, &message);
    cr_assert_null(message, "%s", message);
    cr_assert_lt(number_of(run.store, "SELECT count(*) FROM \"case\""),
                 number_of(run.store, "SELECT count(*) FROM had"));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    cr_assert_eq(number_of(run.store, "SELECT count(*) FROM \"case\""),
                 number_of(run.store, "SELECT count(*) FROM had"));
    cr_assert_eq(number_of(run.store, "SELECT count(*) FROM (SELECT * FROM had EXCEPT SELECT"
                                      " instance, prompt, step, part FROM \"case\")"),
                 0);
    cr_assert_eq(prompt_index(run.store, run.prompts.items[1].id), 1);
    cr_assert_eq(prompt_index(run.store, (struct hash){1, 1}), -1);
    short_setup_close(&run);
}
