// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/reported.h"
#include "report/report_rows.h"
#include "store/store.h"
#include "store/store_open.h"

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(report_rows, .init = begin, .fini = end, .timeout = 110);

static struct store *open_run(const char *extra, enum outcome outcome)
{
    struct store *store = NULL;

    json_decref(reported_run(&scratch, extra, outcome));
    cr_assert_eq(store_open_to_read(scratch_path(&scratch, "run/run.tapmlrun"), &store), TAPML_OK,
                 "%s", status_message());
    return store;
}

Test(report_rows, each_instance_has_its_place)
{
    struct store *store = open_run("[plan]\nrule = * -> source\nrule = op=silu -> other\n"
                                   "[fault.1]\ntarget = other\nop = silu\n"
                                   "instance = layers.1/*\nkind = scale 2\n",
                                   OUTCOME_WRONG);
    struct report_rows rows;

    cr_assert_eq(report_rows_read(store, "other", &rows), TAPML_OK, "%s", status_message());
    cr_assert_eq(rows.instance_count, 40);
    cr_assert_eq(rows.wanted, 2);
    cr_assert_eq(rows.moved, 1);
    cr_assert_eq(rows.blamed, 1);
    cr_assert_eq(rows.unsupported, 0);
    cr_assert(report_rows_is_wrong(&rows));
    cr_assert_not_null(report_rows_blame(&rows, "layers.1/mlp/silu"));
    cr_assert_not_null(report_rows_bundle(&rows, "layers.1/mlp/silu"));
    cr_assert_null(report_rows_blame(&rows, "layers.0/mlp/silu"));
    cr_assert_eq(report_rows_time(&rows, "tapml.silu")->calls % 3, 0);
    cr_assert_null(report_rows_time(&rows, "tapml.linear"));
    for (size_t i = 0; i < rows.instance_count; i++) {
        const int is_silu = strcmp(rows.instances[i].op, "tapml.silu") == 0;

        cr_assert_eq(rows.places[i] == REPORT_UNWANTED, !is_silu, "%s", rows.instances[i].instance);
    }
    report_rows_release(&rows);
    cr_assert_eq(report_rows_read(store, "another", &rows), TAPML_NOT_FOUND);
    store_close(store);
}
