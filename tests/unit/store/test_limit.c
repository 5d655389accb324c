// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
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
    MUST(limit_write(store, &others[5])); // Of another oracle, in the place of the first one.
    others[0] = ROW;
    MUST(limit_find(store, &others[0], &has));
    cr_expect(!has);
    store_close(store);
    scratch_remove(&scratch);
}
