// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "fused_case.h"
#include "verify/subgroup.h"

static struct arena *arena;
static struct plain_frame *frame;
static struct inferred inferred;

static void begin(void)
{
    const struct plain_form *form = NULL;
    tapml_value *args = NULL;
    fused_case_begin();
    fused_case_make(0);
    arena = arena_create();
    MUST(plain_form_create(fused_schema, registry_catalogue(plugins.registry), arena, &form));
    MUST(plain_frame_create(form, arena, &frame));
    MUST(case_values(&fused_item, arena, &args));
    MUST(infer_call(fused_schema, args, &inferred));
    MUST(plain_frame_evaluate(frame, args, &inferred, ACTIVATION_F32));
}

static void end(void)
{
    fused_case_end();
    arena_destroy(arena);
}

TestSuite(subgroup, .init = begin, .fini = end, .timeout = 60);

static struct subgroup make(uint32_t begin_call, uint32_t end_call)
{
    const struct subgroup_range range = {begin_call, end_call};
    struct subgroup made = {NULL, NULL};
    MUST(subgroup_make(frame, &inferred, &range, registry_catalogue(plugins.registry),
                       registry_arena(plugins.registry), &made));
    return made;
}

static const tapml_param *find(const tapml_op *op, const char *name)
{
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (strcmp(op->params[p]->name, name) == 0) {
            return op->params[p];
        }
    }
    return NULL;
}

Test(subgroup, what_comes_in_and_goes_out_are_parameters)
{
    const tapml_op *first = make(0, 1).part->op, *second = make(1, 2).part->op;
    cr_assert_eq(find(first, "h")->kind, TAPML_P_TENSOR_OUT);
    cr_assert_str_eq(find(first, "h")->shape, "2, 4");
    cr_assert_eq(find(first, "eps")->kind, TAPML_P_F64);
    cr_assert_null(find(first, "w"));
    cr_assert_eq(find(second, "h")->kind, TAPML_P_TENSOR_IN);
    cr_assert_eq(find(second, "w")->effects, TAPML_E_WEIGHT);
    cr_assert_eq(find(second, "y")->kind, TAPML_P_TENSOR_OUT);
    cr_assert_null(find(second, "x"));
    cr_assert_eq(find(second, "T")->kind, TAPML_P_I64);
}

Test(subgroup, the_whole_calls_the_part)
{
    const struct subgroup made = make(1, 2);
    const struct plain_form *form = NULL;
    cr_assert_not_null(strstr(made.whole->op->expands, made.part->op->name));
    MUST(plain_form_create(made.whole, registry_catalogue(plugins.registry), arena, &form));
    cr_assert_eq(form->call_count, 2);
    cr_assert_eq(form->calls[1].schema, made.part);
    cr_assert_eq(make(1, 2).part, made.part, "the same part is the same op");
}
