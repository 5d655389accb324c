// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../model/delta_models.h"
#include "harness/open_store.h"
#include "model/delta_make.h"
#include "run/delta_losses.h"
#include "store/metadata.h"

TestSuite(delta_losses, .init = open_store_begin, .fini = open_store_end);

static const char *make_delta(enum delta_kind kind)
{
    struct delta_models models;
    struct delta_make_counts counts;

    delta_models_make(&models);
    const struct delta_make_options options = {
        .base = models.base, .fine = models.fine, .kind = kind, .density = 0.25};
    const char *path = scratch_path(&scratch, "d");

    MUST(delta_make(&options, path, &counts));
    delta_models_release(&models);
    return path;
}

Test(delta_losses, what_the_file_says_is_kept)
{
    MUST(delta_losses_write(store, make_delta(DELTA_SPARSE)));
    json_t *list = delta_losses_read(store);
    const json_t *only = json_array_get(list, 0);

    cr_assert_eq(json_array_size(list), 1, "the row of the models is exact");
    cr_expect_str_eq(json_string_value(json_object_get(only, "weight")), "matrix");
    cr_expect_str_eq(json_string_value(json_object_get(only, "kind")), "sparse");
    cr_expect_str_eq(json_string_value(json_object_get(only, "of")), "values");
    const double lost = json_number_value(json_object_get(only, "lost"));

    cr_expect(lost > 0.5 && lost < 0.7, "%g", lost); // sqrt of 35,720 in 85,344.
    json_decref(list);
}

Test(delta_losses, nothing_is_kept_of_what_is_exact)
{
    MUST(delta_losses_write(store, NULL));
    MUST(delta_losses_write(store, make_delta(DELTA_XOR)));
    cr_expect_null(delta_losses_read(store));
    cr_expect_neq(delta_losses_write(store, "/dev/null/none"), TAPML_OK);
    cr_expect_not_null(strstr(status_message(), "delta '/dev/null/none': "), "%s",
                       status_message());
}

Test(delta_losses, what_is_no_list_is_none)
{
    MUST(metadata_note(store, "model.delta.losses", "{\"weight\": 1}"));
    cr_expect_null(delta_losses_read(store));
    MUST(metadata_note(store, "model.delta.losses", "[1"));
    cr_expect_null(delta_losses_read(store));
}
