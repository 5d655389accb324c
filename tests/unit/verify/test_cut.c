// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/cases.h"
#include "harness/schemas.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "tensor/encoding.h"
#include "verify/cut.h"

#include <stdint.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(cut, .init = begin, .fini = end);

// The number of the axis that a symbol has.
static uint32_t axis_of(const struct cut *cut, const char *name)
{
    uint32_t axis = 0;
    while (axis < cut->axis_count &&
           strcmp(cut->schema->names.names[cut->axes[axis].symbol], name) != 0) {
        axis++;
    }
    cr_assert_lt(axis, cut->axis_count, "no axis '%s'", name);
    return axis;
}

static struct carved_case cut_one(
    const struct carved_case *item, const tapml_op *op, const char *name, int64_t from, int64_t to)
{
    struct cut cut;
    struct carved_case out;
    MUST(cut_open(item, schema_of(op), &cut));
    MUST(cut_case(&cut, axis_of(&cut, name), from, to, arena, &out));
    return out;
}

static void refuse(
    const struct carved_case *item, const tapml_op *op, const char *name, int64_t from, int64_t to)
{
    struct cut cut;
    struct carved_case out;
    MUST(cut_open(item, schema_of(op), &cut));
    cr_assert_eq(cut_case(&cut, axis_of(&cut, name), from, to, arena, &out), TAPML_INVALID,
                 "'%s' %lld .. %lld", name, (long long)from, (long long)to);
}

Test(cut, rows_are_cut_in_all_parameters_that_have_them)
{
    struct cases_norm made;
    cases_make_norm(&made, "norm", 0);
    made.arguments[1].before = made.weight;
    const struct carved_case out = cut_one(&made.item, &tapml_rms_norm, "rows", 1, 2);
    cr_assert_eq(out.arguments[0].shape[0], 1);
    cr_assert_eq(out.arguments[0].shape[1], CASES_WIDTH);
    cr_assert_arr_eq(out.arguments[0].before, made.x + CASES_WIDTH, sizeof(float) * CASES_WIDTH);
    cr_assert_arr_eq(out.arguments[1].before, made.weight, sizeof(made.weight));
    cr_assert_eq(out.arguments[4].shape[0], 1);
    cr_assert_eq(out.arguments[4].content_bytes, sizeof(float) * CASES_WIDTH);
    cr_assert_eq(out.arguments[2].d, made.arguments[2].d);
    cr_assert_str_eq(out.shape_class, "x=[1,3] weight=[3]");
    cr_assert_str_eq(out.instance, "norm");
}

Test(cut, columns_cut_the_weight_too)
{
    struct cases_norm made;
    cases_make_norm(&made, "norm", 0);
    made.arguments[1].before = made.weight;
    const struct carved_case out = cut_one(&made.item, &tapml_rms_norm, "width", 1, 3);
    const float *x = out.arguments[0].before;
    cr_assert_eq(out.arguments[0].stride[0], 2, "dense stays dense");
    cr_assert_eq(x[0], made.x[1]);
    cr_assert_eq(x[2], made.x[CASES_WIDTH + 1]);
    cr_assert_eq(out.arguments[1].base_bytes, 2 * sizeof(float));
    cr_assert_arr_eq(out.arguments[1].before, made.weight + 1, 2 * sizeof(float));
}

Test(cut, rows_of_blocks_get_spans_of_their_own)
{
    struct cases_blocks made;
    cases_make_blocks(&made, "q", 0);
    const struct carved_case out = cut_one(&made.item, &tapml_linear, "out", 1, 3);
    const struct case_argument *w = &out.arguments[1];
    cr_assert_eq(w->shape[0], 2);
    cr_assert_eq(w->base_bytes, 2 * 2 * 16 + 16 + 16);
    for (uint64_t block = 0; block < 4; block++) {
        float whole[ENCODING_BLOCK_MAX] = {0}, part[ENCODING_BLOCK_MAX] = {0};
        encoding_decode(w->encoding, made.w, 8, 2 + block, whole);
        encoding_decode(w->encoding, w->before, 4, block, part);
        cr_assert_arr_eq(whole, part, sizeof(whole));
    }
    refuse(&made.item, &tapml_linear, "in", 0, 32);
}

Test(cut, states_in_blocks_stay_whole)
{
    struct cases_rows made;
    cases_make_rows(&made, "a", 0);
    refuse(&made.item, &tapml_state_append, "T", 0, 1);
    cr_expect_not_null(strstr(status_message(), "its state lies in blocks"), "%s",
                       status_message());
}

Test(cut, a_view_keeps_its_strides)
{
    struct cases_silu made;
    cases_make_silu(&made, "silu", 0);
    const struct carved_case out = cut_one(&made.item, &tapml_silu, "width", 0, 2);
    const struct case_argument *x = &out.arguments[0];
    cr_assert_eq(x->stride[0], CASES_WIDTH + 2);
    cr_assert_eq(x->offset_bytes, sizeof(float));
    cr_assert_eq(x->base_bytes, made.arguments[0].base_bytes - sizeof(float));
    cr_assert_eq(((const float *)x->before)[2], made.x[CASES_WIDTH]);
}

Test(cut, positions_and_regions_move_with_the_first_token)
{
    struct cases_append made;
    cases_make_append(&made, "k", 0);
    const struct carved_case out = cut_one(&made.item, &tapml_state_append, "T", 1, 2);
    const struct case_argument *state = &out.arguments[0];
    const size_t row = sizeof(float) * CASES_HEADS * CASES_HEAD;
    cr_assert_eq(out.arguments[2].i, 16);
    cr_assert_eq(state->region_begin, 16);
    cr_assert_eq(state->region_end, 17);
    cr_assert_eq(state->kept_begin, 16);
    cr_assert_eq(state->kept_end, 32);
    cr_assert_arr_eq(state->before, made.before + CASE_PAGE_ROWS * CASES_HEADS * CASES_HEAD,
                     CASE_PAGE_ROWS * row);
    cr_assert_arr_eq(out.arguments[1].before, made.rows + CASES_HEADS * CASES_HEAD, row);
    const struct carved_case front = cut_one(&made.item, &tapml_state_append, "T", 0, 1);
    cr_assert_eq(front.arguments[2].i, 15);
    cr_assert_eq(front.arguments[0].kept_end, 16);
}

Test(cut, a_state_loses_rows_beyond_its_region)
{
    struct cases_append made;
    cases_make_append(&made, "k", 0);
    const struct carved_case out = cut_one(&made.item, &tapml_state_append, "C", 0, 20);
    cr_assert_eq(out.arguments[0].shape[0], 20);
    cr_assert_eq(out.arguments[0].kept_end, 20);
    cr_assert_arr_eq(out.arguments[0].before, made.before, out.arguments[0].content_bytes);
    refuse(&made.item, &tapml_state_append, "C", 0, 16);
    const struct carved_case heads = cut_one(&made.item, &tapml_state_append, "heads", 1, 2);
    cr_assert_eq(((const float *)heads.arguments[0].before)[0], made.before[CASES_HEAD]);
}

Test(cut, rows_of_a_state_that_were_not_kept_cannot_come_back)
{
    struct cases_append made;
    cases_make_append(&made, "k", 0);
    struct case_argument *state = &made.arguments[0];
    made.arguments[2].i = 31;
    state->region_begin = 31;
    state->region_end = 33;
    state->kept_begin = 16;
    state->kept_end = 40;
    state->content_bytes = 24 * sizeof(float) * CASES_HEADS * CASES_HEAD;
    const struct carved_case out = cut_one(&made.item, &tapml_state_append, "position", 0, 20);
    cr_assert_eq(out.arguments[2].i, 20);
    cr_assert_eq(out.arguments[0].region_begin, 20);
    refuse(&made.item, &tapml_state_append, "position", 0, 10);
    refuse(&made.item, &tapml_state_append, "position", 1, 20);
}

Test(cut, chosen_rows_are_counted_from_the_first_that_stays)
{
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    float y[4] = {6, 7, 4, 5};
    const int32_t rows[2] = {3, 2};
    struct case_argument arguments[3] = {
        {.name = "x", .rank = 2, .shape = {4, 2}, .stride = {2, 1}, .before = x},
        {.name = "rows", .rank = 1, .shape = {2}, .stride = {1}, .before = rows},
        {.name = "y", .rank = 2, .shape = {2, 2}, .stride = {2, 1}, .after = y},
    };
    const uint64_t bytes[] = {sizeof(x), sizeof(rows), sizeof(y)};
    for (int i = 0; i < 3; i++) {
        arguments[i].kind = tapml_gather_rows.params[i]->kind;
        arguments[i].effects = tapml_gather_rows.params[i]->effects;
        arguments[i].dtype = i == 1 ? TAPML_I32 : TAPML_F32;
        arguments[i].base_bytes = arguments[i].content_bytes = bytes[i];
        arguments[i].origin = "o";
    }
    const struct carved_case item = {.instance = "rows",
                                     .op_name = tapml_gather_rows.name,
                                     .op_version = 1,
                                     .arguments = arguments,
                                     .argument_count = 3};
    const struct carved_case out = cut_one(&item, &tapml_gather_rows, "T", 2, 4);
    cr_assert_eq(((const int32_t *)out.arguments[1].before)[0], 1);
    cr_assert_eq(((const int32_t *)out.arguments[1].before)[1], 0);
    cr_assert_eq(((const float *)out.arguments[0].before)[0], 4);
    const struct carved_case fewer = cut_one(&item, &tapml_gather_rows, "R", 1, 2);
    cr_assert_eq(((const int32_t *)fewer.arguments[1].before)[0], 2);
}

Test(cut, a_weight_by_name_stays_where_all_of_it_does)
{
    struct cases_norm made;
    cases_make_norm(&made, "norm", 0);
    const struct carved_case out = cut_one(&made.item, &tapml_rms_norm, "rows", 0, 1);
    cr_assert(case_is_reference(&out.arguments[1]));
    cr_assert_eq(out.arguments[1].shape[0], CASES_WIDTH);
    cr_assert_eq(out.arguments[0].shape[0], 1);
}

Test(cut, what_cannot_be_is_refused)
{
    struct cases_norm made;
    struct cut cut;
    cases_make_norm(&made, "norm", 0);
    refuse(&made.item, &tapml_rms_norm, "width", 0, 1); // A weight by name.
    made.arguments[1].before = made.weight;
    refuse(&made.item, &tapml_rms_norm, "rows", 1, 1);
    refuse(&made.item, &tapml_rms_norm, "rows", 0, 3);
    refuse(&made.item, &tapml_rms_norm, "rows", -1, 1);
    cr_assert_eq(cut_open(&made.item, schema_of(&tapml_silu), &cut), TAPML_INVALID);
    made.arguments[0].shape[1] = 2;
    made.arguments[0].content_bytes = made.arguments[0].base_bytes = 4 * sizeof(float);
    made.arguments[0].stride[0] = 2;
    cr_assert_eq(cut_open(&made.item, schema_of(&tapml_rms_norm), &cut), TAPML_INVALID);
}
