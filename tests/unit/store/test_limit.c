// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/limit.h"
#include "store/store.h"
#include "store/store_open.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const struct limit_row ROW = {.op = "x.op",
                                     .version = 1,
                                     .shape_class = "x=[2]",
                                     .param = "y",
                                     .calibration = "c f64 f32",
                                     .oracle = "0a",
                                     .nmse = 1e-9,
                                     .row_error = 1e-5};

Test(limit, is_found_by_its_output_and_oracle)
{
    struct scratch scratch;
    struct store *store = NULL;
    struct limit_row others[] = {ROW, ROW, ROW, ROW, ROW, ROW, ROW};
    int has = 0;
    others[1].op = "x.other";
    others[2].version = 2;
    others[3].shape_class = "x=[3]";
    others[4].param = "z";
    others[5].oracle = "0b";
    others[6].calibration = "c f64"; // Which its oracle says.
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    MUST(limit_write(store, &ROW));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        others[i].nmse = others[i].row_error = 7;
        MUST(limit_find(store, &others[i], &has));
        const int is_same = i == 0 || i == 6;
        cr_expect_eq(has, is_same, "%zu", i);
        cr_expect_eq(others[i].nmse, is_same ? ROW.nmse : 7);
        cr_expect_eq(others[i].row_error, is_same ? ROW.row_error : 7);
    }
    others[1] = ROW; // One that knew less is written behind it: the wider of both stays.
    others[1].nmse = 1e-10;
    others[1].row_error = 1e-4;
    MUST(limit_write(store, &others[1]));
    MUST(limit_find(store, &others[1], &has));
    cr_expect(has && others[1].nmse == 1e-9 && others[1].row_error == 1e-4);
    MUST(limit_write(store, &others[5])); // Of another oracle, in the place of the first one.
    others[0] = ROW;
    MUST(limit_find(store, &others[0], &has));
    cr_expect(!has);
    store_close(store);
    scratch_remove(&scratch);
}

Test(limit, is_found_in_a_list_as_in_the_store)
{
    struct scratch scratch;
    struct store *store = NULL;
    struct arena *arena = arena_create();
    struct limit_row *rows = NULL;
    size_t count = 0;
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    for (int i = 0; i < 32; i++) {
        struct limit_row row = ROW;
        row.op = i & 1 ? "x.op" : "x.o";
        row.version = i & 2 ? 1 : 10;
        row.shape_class = i & 4 ? "x=[2]" : "x=[10]";
        row.param = i & 8 ? "y" : "z";
        row.oracle = row.calibration = i & 16 ? "0a" : "0b";
        row.ulp = i;
        MUST(limit_write(store, &row));
    }
    MUST(limit_list(store, arena, &rows, &count));
    cr_assert_eq(count, 32);
    for (size_t i = 0; i < count; i++) {
        struct limit_row found = rows[i], searched = rows[i];
        int has = 0;
        found.ulp = searched.ulp = -1;
        MUST(limit_find(store, &found, &has));
        cr_expect(has && limit_search(rows, count, &searched));
        cr_expect_eq(searched.ulp, found.ulp);
        searched.param = "x";
        cr_expect(!limit_search(rows, count, &searched));
    }
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}
