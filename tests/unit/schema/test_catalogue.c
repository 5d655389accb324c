// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "schema/catalogue.h"
#include "stranger.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static const tapml_op *const ours[] = {
    &tapml_add,    &tapml_attention, &tapml_copy,         &tapml_embed,
    &tapml_linear, &tapml_mul,       &tapml_gather_rows,  &tapml_rms_norm,
    &tapml_rope,   &tapml_silu,      &tapml_state_append,
};
enum { OUR_COUNT = sizeof(ours) / sizeof(*ours) };

static void expect_message(tapml_status status, tapml_status expected, const char *piece)
{
    cr_assert_eq(status, expected);
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
}

Test(catalogue, finds_what_was_added)
{
    struct catalogue *catalogue = NULL;
    struct stranger stranger;

    stranger_init(&stranger);
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    for (size_t i = 0; i < OUR_COUNT; i++) {
        cr_assert_eq(catalogue_add(catalogue, ours[i], "the host", NULL), TAPML_OK, "%s: %s",
                     ours[i]->name, status_message());
    }
    cr_assert_eq(catalogue_add(catalogue, &stranger.op, "org.example", NULL), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(catalogue_count(catalogue), OUR_COUNT + 1);
    cr_assert_eq(catalogue_find(catalogue, "tapml.rope", 1)->op, &tapml_rope);
    cr_assert_eq(catalogue_find(catalogue, "org.example.scale", 1)->op, &stranger.op);
    cr_assert_null(catalogue_find(catalogue, "tapml.rope", 2));
    cr_assert_null(catalogue_find(catalogue, "rope", 1));
    cr_assert_null(catalogue_find(catalogue, NULL, 1));
    cr_assert_eq(catalogue_at(catalogue, 0)->op, &tapml_add);
    cr_assert_null(catalogue_at(catalogue, OUR_COUNT + 1));
    catalogue_destroy(catalogue);
    catalogue_destroy(NULL);
}

Test(catalogue, an_op_known_already_must_be_the_same)
{
    struct catalogue *catalogue = NULL;
    struct stranger first;
    struct stranger second;

    stranger_init(&first);
    stranger_init(&second);
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    cr_assert_eq(catalogue_add(catalogue, &first.op, "one", NULL), TAPML_OK);
    cr_assert_eq(catalogue_add(catalogue, &second.op, "two", NULL), TAPML_OK);
    cr_assert_eq(catalogue_count(catalogue), 1);

    second.factor.kind = TAPML_P_I64;
    expect_message(catalogue_add(catalogue, &second.op, "two", NULL), TAPML_ABI_MISMATCH,
                   "op 'org.example.scale' of two is not that of one: parameter 2, 'factor': kind "
                   "is 5, expected 6");
    second.factor.kind = TAPML_P_F64;
    second.y.layout = "dense";
    expect_message(catalogue_add(catalogue, &second.op, "two", NULL), TAPML_ABI_MISMATCH, "layout");
    catalogue_destroy(catalogue);
}

// Of an op that is known, dtypes and domains may be fewer; the rest is as the first one says.
Test(catalogue, an_op_may_list_fewer_dtypes)
{
    struct catalogue *catalogue = NULL;
    struct stranger first;
    struct stranger second;
    struct catalogue_op added = {0};

    stranger_init(&first);
    stranger_init(&second);
    second.x.dtype = "f16";
    second.op.tolerance = "exact";
    second.op.flops = "9 * rows";
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    cr_assert_eq(catalogue_add(catalogue, &first.op, "one", &added), TAPML_OK);
    cr_assert_eq(added.own, added.schema);
    cr_assert_eq(catalogue_add(catalogue, &second.op, "two", &added), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(added.schema->op, &first.op);
    cr_assert_eq(added.own->op, &second.op);
    cr_assert_eq(added.lacks, 1);
    second.x.dtype = "f64";
    expect_message(catalogue_add(catalogue, &second.op, "two", NULL), TAPML_ABI_MISMATCH,
                   "parameter 1, 'x': dtype is 'f64', expected 'f32 f16'");
    catalogue_destroy(catalogue);
}

static void expect_refused(struct stranger *stranger, const char *piece)
{
    struct catalogue *catalogue = NULL;

    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    expect_message(catalogue_add(catalogue, &stranger->op, "org.example", NULL), TAPML_INVALID,
                   piece);
    cr_assert_eq(catalogue_count(catalogue), 0);
    catalogue_destroy(catalogue);
    stranger_init(stranger);
}

Test(catalogue, malformed_schemas_are_refused)
{
    struct stranger stranger;

    stranger_init(&stranger);
    stranger.op.name = NULL;
    expect_refused(&stranger, "without a name");
    stranger.op.name = "scale";
    expect_refused(&stranger, "without a name");
    stranger.op.version = 0;
    expect_refused(&stranger, "without a name");
    stranger.op.tolerance = "roughly";
    expect_refused(&stranger, "tolerance 'roughly'");
    stranger.op.n_params = 33;
    expect_refused(&stranger, "33 parameters");
    stranger.op.params = NULL;
    expect_refused(&stranger, "3 parameters");
    stranger.op.flops = "0 .. rows";
    expect_refused(&stranger, "flops '0 .. rows' is a range");
    stranger.op.flops = "rows *";
    expect_refused(&stranger, "in 'rows *'");
    stranger.y.name = "x";
    expect_refused(&stranger, "two parameters are named 'x'");
    stranger.x.name = "a b";
    expect_refused(&stranger, "parameter 0 has no name");
    stranger.x.kind = 9;
    expect_refused(&stranger, "kind 9 is unknown");
    stranger.x.effects = 1u << 9;
    expect_refused(&stranger, "effects 0x200 are unknown");
    stranger.x.effects = TAPML_E_STATE_WRITE;
    expect_refused(&stranger, "do not go with kind 1");
    stranger.y.effects = TAPML_E_WEIGHT;
    expect_refused(&stranger, "do not go with kind 2");
    stranger.x.dtype = "f32 f17";
    expect_refused(&stranger, "dtype 'f17' is unknown");
    stranger.x.dtype = NULL;
    expect_refused(&stranger, "has no dtype");
    stranger.x.dtype = "y";
    expect_refused(&stranger, "leads to no list of types");
    stranger.x.shape = "y";
    expect_refused(&stranger, "leads to no shape");
    stranger.x.shape = "*rows, (width";
    expect_refused(&stranger, "parameter 'x': in '*rows, (width'");
    stranger.x.layout = NULL;
    expect_refused(&stranger, "layout ''");
    stranger.x.effects = TAPML_E_STATE_READ;
    stranger.x.region = "rows";
    expect_refused(&stranger, "region 'rows' is not 'A .. B'");
    stranger.x.region = "0 .. rows";
    expect_refused(&stranger, "region '0 .. rows' of what is no state");
    stranger.factor.region = "0 .. 1";
    expect_refused(&stranger, "region '0 .. 1' of what is no state");
}

Test(catalogue, short_structs_are_refused)
{
    struct catalogue *catalogue = NULL;
    struct stranger stranger;

    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    stranger_init(&stranger);
    stranger.op.hdr.struct_size = 24;
    cr_assert_eq(catalogue_add(catalogue, &stranger.op, "org.example", NULL), TAPML_ABI_MISMATCH);
    stranger_init(&stranger);
    stranger.y.hdr.struct_size = 24;
    cr_assert_eq(catalogue_add(catalogue, &stranger.op, "org.example", NULL), TAPML_ABI_MISMATCH);
    stranger.params[2] = NULL;
    cr_assert_eq(catalogue_add(catalogue, &stranger.op, "org.example", NULL), TAPML_ABI_MISMATCH);
    catalogue_destroy(catalogue);
}

Test(catalogue, short_names)
{
    struct stranger stranger;

    stranger_init(&stranger);
    cr_assert_str_eq(catalogue_short_name(&tapml_rms_norm), "rms_norm");
    cr_assert_str_eq(catalogue_short_name(&stranger.op), "org.example.scale");
    cr_assert_str_eq(catalogue_shorten("tapml.rms_norm"), "rms_norm");
    cr_assert_str_eq(catalogue_shorten("tapml"), "tapml");
}

Test(catalogue, memory_may_run_out_anywhere)
{
    const size_t live = alloc_live();

    for (size_t n = 1; n < 20; n++) {
        struct catalogue *catalogue = NULL;
        tapml_status status;

        alloc_fail_at(n);
        status = catalogue_create(&catalogue);
        if (status == TAPML_OK) {
            status = catalogue_add(catalogue, &tapml_add, "the host", NULL);
        }
        alloc_fail_at(0);
        cr_assert(status == TAPML_OK || status == TAPML_NO_MEMORY);
        catalogue_destroy(catalogue);
        cr_assert_eq(alloc_live(), live);
    }
}
