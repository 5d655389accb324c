// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/cases.h"
#include "harness/plugin_fixture.h"
#include "harness/schemas.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "tensor/encoding.h"
#include "verify/calibrator.h"
#include "verify/derive.h"
#include "verify/verdicts.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct plugin_fixture plugins;
static struct store *store;
static struct backend *exact;
static struct arena *arena;

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    plugin_fixture_open(&plugins);
    exact = plugin_fixture_backend(&plugins, "reference:f64");
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    backend_release(exact);
    plugin_fixture_close(&plugins);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(derive, .init = begin, .fini = end, .timeout = 110);

static const tapml_op *op_of(const struct carved_case *item)
{
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(plugins.registry), item->op_name, item->op_version);
    cr_assert_not_null(schema);
    return schema->op;
}

static tapml_status
make(const struct carved_case *item, const char *label, struct carved_case *out_made)
{
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    uint32_t count = 0;
    MUST(derive_list(item, schema_of(op_of(item)), recipes, &count));
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(recipes[i].label, label) == 0) {
            return derive_make(item, schema_of(op_of(item)), &recipes[i], arena, out_made);
        }
    }
    cr_assert_fail("no recipe '%s'", label);
    return TAPML_NOT_FOUND;
}

static struct carved_case must_make(const struct carved_case *item, const char *label)
{
    struct carved_case made;
    MUST(make(item, label, &made));
    return made;
}

Test(derive, all_values_come_first_and_every_extent_of_every_axis)
{
    struct cases_silu silu;
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    uint32_t count = 0;
    cases_make_silu(&silu, "s", 0);
    MUST(derive_list(&silu.item, schema_of(op_of(&silu.item)), recipes, &count));
    cr_assert_eq(count, 8 + 2 * 7);
    cr_expect_str_eq(recipes[0].label, "uniform");
    cr_expect_str_eq(derive_source_name(recipes[0].source), "uniform");
    cr_expect_str_eq(recipes[1].label, "zero");
    cr_expect_str_eq(derive_source_name(recipes[1].source), "boundary");
    cr_expect_str_eq(recipes[6].label, "spread");
    cr_expect_str_eq(recipes[7].label, "critical");
    cr_expect_str_eq(recipes[8].label, "rows=33");
    cr_expect_str_eq(recipes[9].label, "width=33");
    cr_expect_str_eq(derive_source_name(recipes[9].source), "shape");
    cr_expect_str_eq(recipes[21].label, "width=255");
}

Test(derive, a_case_of_another_op_is_refused)
{
    struct cases_silu silu;
    struct cases_norm norm;
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    struct carved_case made;
    uint32_t count = 0;
    cases_make_silu(&silu, "s", 0);
    cases_make_norm(&norm, "n", 0);
    cr_assert_eq(derive_list(&silu.item, schema_of(op_of(&norm.item)), recipes, &count),
                 TAPML_INVALID);
    MUST(derive_list(&silu.item, schema_of(op_of(&silu.item)), recipes, &count));
    cr_assert_eq(derive_make(&silu.item, schema_of(op_of(&norm.item)), &recipes[0], arena, &made),
                 TAPML_INVALID);
}

Test(derive, uniform_values_are_dense_and_the_same_at_every_start)
{
    struct cases_norm norm;
    cases_make_norm(&norm, "n", 0);
    const struct carved_case made = must_make(&norm.item, "uniform");
    const struct carved_case again = must_make(&norm.item, "uniform");
    cr_assert_str_eq(made.instance, "n");
    cr_assert_eq(made.argument_count, 5);
    for (uint32_t i = 0; i < 2; i++) { // The weight too, though the case has but its name.
        const struct case_argument *argument = &made.arguments[i];
        const float *values = argument->before;
        const size_t count = argument->content_bytes / sizeof(float);
        cr_assert_eq(count, i == 0 ? CASES_ROWS * CASES_WIDTH : CASES_WIDTH);
        cr_assert_eq(argument->base_bytes, argument->content_bytes);
        cr_assert_eq(argument->offset_bytes, 0);
        for (size_t k = 0; k < count; k++) {
            cr_expect(fabsf(values[k]) <= 1 && values[k] != values[(k + 1) % count]);
        }
        cr_assert_eq(memcmp(values, again.arguments[i].before, argument->content_bytes), 0);
    }
    cr_assert_eq(made.arguments[2].d, norm.arguments[2].d, "attributes stay");
}

Test(derive, boundary_values_are_of_the_inputs_alone)
{
    struct cases_norm norm;
    cases_make_norm(&norm, "n", 0);
    struct carved_case made = must_make(&norm.item, "zero");
    const float *x = made.arguments[0].before;
    const float *weight = made.arguments[1].before;
    cr_assert(x[0] == 0 && !signbit(x[0]) && x[1] == 0 && signbit(x[1]));
    cr_assert_neq(weight[0], 0);
    made = must_make(&norm.item, "tiny");
    x = made.arguments[0].before;
    cr_assert_eq(fabsf(x[0]), 1e-30f);
    cr_assert_eq(fabsf(x[3]), 1e-40f);
    made = must_make(&norm.item, "equal");
    x = made.arguments[0].before;
    cr_assert(x[0] == 0.7f && x[5] == 0.7f);
    made = must_make(&norm.item, "large");
    x = made.arguments[0].before;
    cr_assert(fabsf(x[4]) >= 5e3f && fabsf(x[4]) <= 1e4f);
}

Test(derive, an_exact_op_gets_no_subnormals)
{
    struct cases_append append;
    cases_make_append(&append, "a", 0);
    const struct carved_case made = must_make(&append.item, "tiny");
    const float *rows = made.arguments[1].before;
    for (size_t i = 0; i < made.arguments[1].content_bytes / sizeof(float); i++) {
        cr_assert_eq(fabsf(rows[i]), 1e-30f);
    }
}

Test(derive, one_value_of_each_row_stands_out)
{
    struct cases_silu silu;
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    struct carved_case made;
    uint32_t count = 0;
    cases_make_silu(&silu, "s", 0);
    MUST(derive_list(&silu.item, schema_of(op_of(&silu.item)), recipes, &count));
    struct derive_recipe *wide = &recipes[8 + 3]; // The outliers of a wide row.
    cr_assert_str_eq(recipes[5].label, "outlier");
    *wide = recipes[5];
    snprintf(wide->symbol, sizeof(wide->symbol), "width");
    wide->value = 257;
    MUST(derive_make(&silu.item, schema_of(op_of(&silu.item)), wide, arena, &made));
    const float *x = made.arguments[0].before;
    for (int row = 0; row < CASES_ROWS; row++) {
        int large = 0;
        for (int i = 0; i < 257; i++) {
            large += fabsf(x[row * 257 + i]) > 1;
        }
        cr_expect_eq(large, 1);
    }
}

// Values beside those of the model, for a model that stays inside.
Test(derive, values_are_spread_from_the_range_of_the_case)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        silu.x[i] = 50;
    }
    struct carved_case made = must_make(&silu.item, "spread");
    const float *x = made.arguments[0].before;
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        cr_expect(fabsf(x[i]) >= 0.05f && fabsf(x[i]) <= 2 * 16 * 50.0f, "%g", (double)x[i]);
    }
    made = must_make(&silu.item, "critical");
    x = made.arguments[0].before;
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        cr_expect(fabsf(x[i]) <= 34, "%g", (double)x[i]);
    }
}

Test(derive, a_shape_changes_one_symbol_everywhere)
{
    struct cases_norm norm;
    cases_make_norm(&norm, "n", 0);
    struct carved_case made = must_make(&norm.item, "width=33");
    cr_assert_eq(made.arguments[0].shape[0], CASES_ROWS);
    cr_assert_eq(made.arguments[0].shape[1], 33);
    cr_assert_eq(made.arguments[1].shape[0], 33);
    cr_assert_eq(made.arguments[4].shape[1], 33);
    cr_assert_eq(made.arguments[4].content_bytes, CASES_ROWS * 33 * sizeof(float));
    cr_assert_not_null(made.arguments[4].after);
    cr_assert_str_eq(made.shape_class, "width=33");
    made = must_make(&norm.item, "rows=257");
    cr_assert_eq(made.arguments[0].shape[0], 257);
    cr_assert_eq(made.arguments[0].shape[1], CASES_WIDTH);
}

Test(derive, rows_of_blocks_are_whole_blocks)
{
    struct cases_blocks blocks;
    cases_make_blocks(&blocks, "q", 0);
    struct carved_case made = must_make(&blocks.item, "in=288"); // Of 257.
    const struct case_argument *w = &made.arguments[1];
    cr_assert_eq(w->encoding, blocks.arguments[1].encoding);
    cr_assert_eq(w->shape[1], 288);
    cr_assert_eq(w->content_bytes, 4 * 9 * 16 + 80 + 80);
    float values[ENCODING_BLOCK_MAX];
    encoding_decode(w->encoding, w->before, 36, 35, values);
    cr_assert_gt(values[7], -0.2);
    cr_assert_lt(values[7], 1.2);
    made = must_make(&blocks.item, "out=33");
    cr_assert_eq(made.arguments[1].shape[0], 33);
}

Test(derive, a_state_holds_what_the_call_touches)
{
    struct cases_append append;
    cases_make_append(&append, "a", 0);
    struct carved_case made = must_make(&append.item, "T=257");
    const struct case_argument *state = &made.arguments[0];
    cr_assert_eq(state->region_begin, 15);
    cr_assert_eq(state->region_end, 15 + 257);
    cr_assert_eq(state->shape[0], 15 + 257);
    cr_assert_eq(state->kept_begin, 0);
    cr_assert_eq(state->kept_end, 15 + 257);
    made = must_make(&append.item, "position=64");
    state = &made.arguments[0];
    cr_assert_eq(made.arguments[2].i, 64);
    cr_assert_eq(state->region_begin, 64);
    cr_assert_eq(state->region_end, 66);
    cr_assert_eq(state->kept_begin, 64);
    MUST(case_check_op(&made, op_of(&made)));
}

// What is rounded on its way into a state: ties, and in blocks another scale for each.
Test(derive, rows_that_are_rounded)
{
    struct cases_append append;
    struct cases_rows rows;
    cases_make_append(&append, "a", 0);
    append.arguments[0].dtype = TAPML_F16;
    append.arguments[0].base_bytes /= 2;
    append.arguments[0].content_bytes /= 2;
    struct carved_case made = must_make(&append.item, "ties");
    const float *values = made.arguments[1].before;
    cr_expect_eq(fabsf(values[1]) - floorf(fabsf(values[1])), 0.5f);
    cases_make_rows(&rows, "a", 0);
    made = must_make(&rows.item, "ties");
    values = made.arguments[1].before;
    cr_expect_eq(fabsf(values[0]), 127);
    made = must_make(&rows.item, "width=64"); // Of 33.
    cr_expect_eq(made.arguments[0].content_bytes, (uint64_t)32 * CASES_HEADS * 72);
    MUST(case_check_op(&made, op_of(&made)));
    made = must_make(&rows.item, "T=257");
    cr_expect_eq(made.arguments[0].kept_end, 15 + 257);
    made = must_make(&rows.item, "uniform");
    MUST(case_check_op(&made, op_of(&made)));
    cr_expect_eq(made.arguments[0].encoding, rows.arguments[0].encoding);
}

Test(derive, what_is_too_large_or_empty_is_refused)
{
    struct cases_silu silu;
    struct carved_case made;
    cases_make_silu(&silu, "s", 0);
    struct derive_recipe recipe = {.source = DERIVE_SHAPE, .symbol = "width", .value = INT64_MAX};
    cr_assert_eq(derive_make(&silu.item, schema_of(op_of(&silu.item)), &recipe, arena, &made),
                 TAPML_INVALID);
    recipe.value = INT64_C(1) << 40;
    cr_assert_eq(derive_make(&silu.item, schema_of(op_of(&silu.item)), &recipe, arena, &made),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'x'"), "%s", status_message());
    recipe.value = 0;
    cr_assert_eq(derive_make(&silu.item, schema_of(op_of(&silu.item)), &recipe, arena, &made),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "empty"), "%s", status_message());
}

// An op of a stranger: y[i] = table[i, rows[i] - shift] over [n, 2 * m + 1].
static const tapml_param TABLE = {.hdr = TAPML_HDR(tapml_param),
                                  .name = "table",
                                  .kind = TAPML_P_TENSOR_IN,
                                  .dtype = "f32",
                                  .shape = "n, 2 * m + 1",
                                  .layout = "dense"};
static const tapml_param ROWS = {.hdr = TAPML_HDR(tapml_param),
                                 .name = "rows",
                                 .kind = TAPML_P_TENSOR_IN,
                                 .dtype = "i32",
                                 .shape = "m",
                                 .layout = "dense",
                                 .domain = "shift .. n + shift"};
static const tapml_param SHIFT = {
    .hdr = TAPML_HDR(tapml_param), .name = "shift", .kind = TAPML_P_I64, .domain = "0 .. n - 1"};
static const tapml_param Y = {.hdr = TAPML_HDR(tapml_param),
                              .name = "y",
                              .kind = TAPML_P_TENSOR_OUT,
                              .dtype = "table",
                              .shape = "table",
                              .layout = "dense"};
static const tapml_param *const PARAMS[] = {&ROWS, &TABLE, &SHIFT, &Y};
static const tapml_op STRANGE = {.hdr = TAPML_HDR(tapml_op),
                                 .name = "org.example.strange",
                                 .version = 1,
                                 .n_params = 4,
                                 .params = PARAMS,
                                 .tolerance = "elementwise"};

static struct case_argument
tensor(const char *name, uint32_t kind, uint32_t dtype, int64_t rows, int64_t width)
{
    static const float ZEROS[64];
    const int64_t count = rows * (width > 0 ? width : 1);
    return (struct case_argument){.name = name,
                                  .kind = kind,
                                  .dtype = dtype,
                                  .rank = width > 0 ? 2 : 1,
                                  .shape = {rows, width},
                                  .stride = {width > 0 ? width : 1, 1},
                                  .base_bytes = (uint64_t)count * 4,
                                  .content_bytes = (uint64_t)count * 4,
                                  .before = ZEROS,
                                  .after = ZEROS,
                                  .origin = ""};
}

struct strange {
    struct case_argument arguments[4];
    struct carved_case item;
};

static void make_strange(struct strange *made)
{
    made->arguments[0] = tensor("rows", TAPML_P_TENSOR_IN, TAPML_I32, 3, 0);
    made->arguments[1] = tensor("table", TAPML_P_TENSOR_IN, TAPML_F32, 5, 7);
    made->arguments[2] = (struct case_argument){.name = "shift", .kind = TAPML_P_I64, .i = 4};
    made->arguments[3] = tensor("y", TAPML_P_TENSOR_OUT, TAPML_F32, 5, 7);
    made->item = (struct carved_case){.instance = "i",
                                      .op_name = STRANGE.name,
                                      .op_version = 1,
                                      .phase = "prefill",
                                      .shape_class = "",
                                      .arguments = made->arguments,
                                      .argument_count = 4};
}

Test(derive, an_op_of_a_stranger_follows_its_schema)
{
    struct strange strange;
    make_strange(&strange);
    const struct carved_case item = strange.item;
    struct derive_recipe recipe = {.source = DERIVE_BOUNDARY, .symbol = "m", .value = 33};
    struct carved_case made;
    MUST(derive_make(&item, schema_of(&STRANGE), &recipe, arena, &made));
    cr_assert_eq(made.arguments[0].shape[0], 33);
    cr_assert_eq(made.arguments[1].shape[1], 67);
    cr_assert_eq(made.arguments[3].shape[1], 67);
    const int32_t *rows = made.arguments[0].before;
    cr_assert(rows[0] == 4 && rows[1] == 9 && rows[32] == 4, "the ends of the domain");
    recipe = (struct derive_recipe){.source = DERIVE_SHAPE, .symbol = "n", .value = 1};
    MUST(derive_make(&item, schema_of(&STRANGE), &recipe, arena, &made));
    cr_assert_eq(made.arguments[2].i, 0, "an attribute stays in its domain");
    struct text shape;
    text_init(&shape);
    derive_print_shape(&made, &shape);
    cr_assert_str_eq(shape.data, "org.example.strange rows=3i32 table=1,7f32 shift=0 y=1,7f32");
    text_release(&shape);
}

// What a shape ties together without a word in the schema goes in the same proportion.
Test(derive, extents_are_coupled_in_proportion)
{
    struct strange strange;
    struct derive_recipe recipe = {
        .source = DERIVE_SHAPE, .symbol = "m", .value = 33, .label = "m=33"};
    struct derive_recipe coupled;
    struct carved_case made;
    int has = 0;
    make_strange(&strange); // m = 3, shift is an attribute;
    strange.arguments[1] = tensor("table", TAPML_P_TENSOR_IN, TAPML_F32, 6, 7);
    strange.arguments[3] = tensor("y", TAPML_P_TENSOR_OUT, TAPML_F32, 6, 7);
    MUST(derive_couple(&strange.item, schema_of(&STRANGE), &recipe, 0, &coupled, &has));
    cr_assert(has);
    cr_assert_str_eq(coupled.label, "m=33,n=66");
    MUST(derive_make(&strange.item, schema_of(&STRANGE), &coupled, arena, &made));
    cr_assert_eq(made.arguments[0].shape[0], 33);
    cr_assert_eq(made.arguments[1].shape[0], 66);
    cr_assert(made.is_derived);
    MUST(derive_couple(&strange.item, schema_of(&STRANGE), &recipe, 1, &coupled, &has));
    cr_assert_not(has);
    recipe = (struct derive_recipe){.symbol = "n", .value = 257, .label = "n=257"};
    MUST(derive_couple(&strange.item, schema_of(&STRANGE), &recipe, 0, &coupled, &has));
    cr_assert_str_eq(coupled.label, "n=257,m=257", "no half of 257");
    recipe = (struct derive_recipe){.symbol = "n", .value = 64, .label = "n=64"};
    MUST(derive_couple(&strange.item, schema_of(&STRANGE), &recipe, 0, &coupled, &has));
    cr_assert_str_eq(coupled.label, "n=64,m=32");
    recipe = (struct derive_recipe){.symbol = "shift", .value = 64, .label = "shift=64"};
    MUST(derive_couple(&strange.item, schema_of(&STRANGE), &recipe, 0, &coupled, &has));
    cr_assert_not(has);
}

static const char *refusal_of(struct carved_case *item, const tapml_op *op)
{
    struct calibrator *calibrator = NULL;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    const char *refusal = NULL;
    MUST(calibrator_create(plugins.registry, NULL, NULL, &calibrator));
    MUST(calibrator_expect(calibrator, item, schema_of(op), arena, limits, &refusal));
    calibrator_destroy(calibrator);
    return refusal;
}

Test(derive, an_op_that_nothing_calibrates_has_no_expected_values)
{
    struct strange strange;
    make_strange(&strange);
    cr_assert_str_eq(refusal_of(&strange.item, &STRANGE), "no device calibrates its op");
}

Test(derive, what_honest_devices_cannot_compute_judges_no_operator)
{
    struct cases_norm norm;
    cases_make_norm(&norm, "n", 0);
    struct carved_case made = must_make(&norm.item, "tiny");
    cr_assert_null(refusal_of(&made, op_of(&made)));
    cr_assert_neq(*(const float *)made.arguments[4].after, 0, "it has expected values now");
    made.arguments[2].d = 0; // The square of 1e-30 is 0 in f32, and the quotient is infinite.
    const char *refusal = refusal_of(&made, op_of(&made));
    cr_assert_not_null(refusal);
    cr_assert(strstr(refusal, "honest device"), "%s", refusal);
}

Test(derive, a_shape_that_the_reference_refuses_is_skipped_with_its_reason)
{
    struct cases_norm norm;
    cases_make_norm(&norm, "n", 0);
    struct carved_case made = must_make(&norm.item, "uniform");
    made.arguments[4].shape[1]--; // y is no longer like x.
    made.arguments[4].content_bytes = CASES_ROWS * (CASES_WIDTH - 1) * sizeof(float);
    const char *refusal = refusal_of(&made, op_of(&made));
    cr_assert_not_null(refusal);
    cr_assert(strstr(refusal, "parameter 'y'"), "%s", refusal);
}

// A target whose kernels are wrong in the last value of rows of 33.
static int has_tail(const tapml_value *value)
{
    const tapml_tensor *y = value->kind == TAPML_P_TENSOR_OUT ? value->u.p : NULL;
    return y && y->rank > 0 && y->shape[y->rank - 1] == 33;
}

static tapml_status corrupts_tails(struct backend *self, const struct backend_call *call)
{
    const struct backend_wrapper *wrapper = (const struct backend_wrapper *)self;
    const tapml_value *last = &call->args[call->op->n_params - 1];
    const float wrong = 1e3f;
    TAPML_TRY(backend_call(wrapper->inner, call));
    if (!has_tail(last)) {
        return TAPML_OK;
    }
    const tapml_tensor *y = last->u.p;
    TAPML_TRY(backend_write(wrapper->inner, (tapml_object *)y->buffer,
                            y->offset + 32 * sizeof(wrong), &wrong, sizeof(wrong)));
    return backend_wait(wrapper->inner);
}

static struct verdict_list judge(struct backend *target, int derived)
{
    struct verdict_list list;
    MUST(verdicts_make(&(struct verdict_options){.registry = plugins.registry,
                                                 .store = store,
                                                 .target = "gpu",
                                                 .backend = target,
                                                 .derived = derived},
                       &list));
    return list;
}

static void add_cases(void)
{
    struct cases_silu silu;
    struct cases_norm norm;
    struct cases_append append;
    cases_make_silu(&silu, "s", 0);
    MUST(stored_case_add(store, &silu.item));
    cases_make_silu(&silu, "t", 0); // Another instance of the same op and phase.
    MUST(stored_case_add(store, &silu.item));
    cases_make_norm(&norm, "n", 0);
    norm.arguments[1].before = norm.weight;
    MUST(stored_case_add(store, &norm.item));
    cases_make_append(&append, "a", 0);
    MUST(stored_case_add(store, &append.item));
}

Test(derive, a_kernel_wrong_at_a_tail_alone_fails_on_shapes)
{
    add_cases();
    struct backend_vt vt = backend_forward_vt;
    vt.call = corrupts_tails;
    struct backend_wrapper wrapper = {.backend.vt = &vt, .inner = exact};
    struct verdict_list list = judge(&wrapper.backend, 1);
    cr_assert_eq(verdict_count_failed(list.items, list.count), 0, "kept cases have no such tail");
    cr_assert_eq(verdict_count_failed(list.derived, list.derived_count), 2, "of silu and rms_norm");
    for (size_t i = 0; i < list.derived_count; i++) {
        const struct verdict *verdict = &list.derived[i];
        cr_assert_str_neq(verdict->instance, "t", "one case of an op and phase is enough");
        if (verdict->kind == VERDICT_FAIL) {
            cr_expect_str_eq(verdict->source, "shape");
            cr_expect_str_eq(verdict->label, "width=33");
            cr_expect_not_null(strstr(verdict->reason, "y[0, 32] is 1000, expected"), "%s",
                               verdict->reason);
        }
    }
    verdict_list_release(&list);
    list = judge(&wrapper.backend, 0);
    cr_assert_eq(list.derived_count, 0);
    cr_assert_str_eq(list.items[0].source, "carved");
    cr_assert_str_eq(metadata_get(store, "derive.seed"), "1");
    verdict_list_release(&list);
}

Test(derive, honest_devices_pass)
{
    static const char *const DEVICES[] = {"reference:f64", "reference:f32",
                                          "reference:f32-reversed", "reference:f32-blocked"};
    add_cases();
    for (size_t i = 0; i < sizeof(DEVICES) / sizeof(*DEVICES); i++) {
        struct backend *target = plugin_fixture_backend(&plugins, DEVICES[i]);
        struct verdict_list list = judge(target, 1);
        cr_assert_gt(list.derived_count, 40);
        for (size_t k = 0; k < list.derived_count; k++) {
            const struct verdict *verdict = &list.derived[k];
            cr_expect_eq(verdict->kind, VERDICT_PASS, "%s %s: %s: %s", verdict->op_name,
                         verdict->label, verdict_name(verdict->kind), verdict->reason);
        }
        verdict_list_release(&list);
        backend_release(target);
    }
}
