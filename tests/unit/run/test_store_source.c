// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/store_source.h"
#include "store/bundle.h"
#include "store/instance.h"
#include "store/metadata.h"
#include "store/target.h"

static struct short_setup run;
static struct store *own; // Of the run over the cases of `run.store`.
static char other_path[2 * SCRATCH_PATH], own_path[2 * SCRATCH_PATH];
static struct merge_counts counts;

static void begin(void)
{
    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    (void)snprintf(other_path, sizeof(other_path), "%s", store_path(run.store));
    (void)snprintf(own_path, sizeof(own_path), "%s", scratch_path(&run.scratch, "own.tapmlrun"));
    SHORT_MUST(store_open(own_path, 1, &own));
    run.config.store = other_path;
}

static void end(void)
{
    store_close(own);
    short_setup_close(&run);
}

TestSuite(store_source, .init = begin, .fini = end);

static void settle(void)
{
    SHORT_MUST(store_source_settle(own, &run.config, &run.setup, &counts));
}

static void refused(struct store *store, tapml_status status, const char *sentence)
{
    cr_assert_eq(store_source_settle(store, &run.config, &run.setup, &counts), status);
    cr_assert_not_null(strstr(status_message(), sentence), "%s", status_message());
}

Test(store_source, cases_come_over_once_with_what_a_report_needs)
{
    struct arena *arena = arena_create();
    struct instance_row *instances = NULL;
    struct target_row target;
    size_t count = 0;

    settle();
    cr_assert_gt(counts.cases, 0);
    cr_assert_str_eq(metadata_get(own, RUN_METADATA_STORE), other_path);
    cr_assert_str_eq(metadata_get(own, "limits.component"), "reference");
    SHORT_MUST(instance_list(own, arena, &instances, &count));
    cr_assert_eq(count, model_graph(run.setup.model)->op_count);
    cr_assert_str_eq(instances[0].instance, model_graph(run.setup.model)->ops[0].instance);
    cr_assert_str_eq(instances[0].class_, model_graph(run.setup.model)->ops[0].op->tolerance);
    SHORT_MUST(target_find(own, "other", arena, &target));
    settle();
    cr_assert_eq(counts.cases, 0);
    arena_destroy(arena);
}

Test(store_source, its_own_store_and_a_bundle_are_refused)
{
    refused(run.store, TAPML_INVALID, "is the store of this very run");
    SHORT_MUST(metadata_set(run.store, BUNDLE_METADATA_INSTANCE, "a"));
    refused(own, TAPML_INVALID, "is a bundle");
}

static void change(const char *sql)
{
    char *message = NULL;

    (void)sqlite3_exec(store_connection(run.store), sql, NULL, NULL, &message);
    cr_assert_null(message, "%s", message);
}

Test(store_source, a_store_that_has_changed_is_refused)
{
    settle();
    change("UPDATE \"case\" SET key = zeroblob(17) WHERE id = 3");
    refused(own, TAPML_PRECONDITION, "1 of them; the first: case of ");
}

Test(store_source, an_instance_that_no_plan_can_name_is_refused)
{
    change("UPDATE \"case\" SET instance = 'a b' WHERE id = 3");
    refused(own, TAPML_INVALID, "'a b', which no plan can name");
}

Test(store_source, what_its_op_does_not_compute_is_found)
{
    const struct checkpoint *checkpoint = model_checkpoint(run.setup.model);
    struct verdict_list list;

    change("UPDATE argument SET d = 0.5 WHERE param = 'eps' AND case_id ="
           " (SELECT min(id) FROM \"case\" WHERE op = 'tapml.rms_norm')");
    settle();
    SHORT_MUST(store_source_check(own, &run.setup, checkpoint, NULL, &list));
    cr_assert_eq((int64_t)list.count, counts.cases);
    cr_assert_eq(list.replayed, list.count);
    cr_assert_eq(verdict_count_failed(list.items, list.count), 1u);
    verdict_list_release(&list);
    SHORT_MUST(store_source_check(own, &run.setup, checkpoint, NULL, &list));
    cr_assert_eq(list.replayed, 0u, "results are kept");
    cr_assert_eq(verdict_count_failed(list.items, list.count), 1u);
    verdict_list_release(&list);
}
