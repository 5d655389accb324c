// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "plugin/call.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// A schema of every kind, and a function that writes down what reached it.
static const tapml_param in = {
    .hdr = TAPML_HDR(tapml_param), .name = "in", .kind = TAPML_P_TENSOR_IN};
static const tapml_param many = {
    .hdr = TAPML_HDR(tapml_param), .name = "many", .kind = TAPML_P_TENSORS_IN};
static const tapml_param whole = {
    .hdr = TAPML_HDR(tapml_param), .name = "whole", .kind = TAPML_P_I64};
static const tapml_param real = {
    .hdr = TAPML_HDR(tapml_param), .name = "real", .kind = TAPML_P_F64};
static const tapml_param state = {
    .hdr = TAPML_HDR(tapml_param), .name = "state", .kind = TAPML_P_TENSOR_INOUT};
static const tapml_param out = {
    .hdr = TAPML_HDR(tapml_param), .name = "out", .kind = TAPML_P_TENSOR_OUT};

// More than the registers of any machine hold, so that the stack is used too.
static const tapml_param *const all[] = {
    &in,   &many, &whole, &real, &state, &out,  &whole, &real,
    &many, &real, &real,  &real, &real,  &real, &real,  &real,
};
enum { ALL = sizeof(all) / sizeof(all[0]) };
static const tapml_op every = {.hdr = TAPML_HDR(tapml_op),
                               .name = "org.example.every",
                               .version = 1,
                               .n_params = ALL,
                               .params = all};

static char seen[512];

static tapml_status every_run(tapml_object *queue,
                              tapml_call *call,
                              const tapml_tensor *a,
                              const tapml_tensor *const *list,
                              uint64_t list_count,
                              int64_t i,
                              double d,
                              const tapml_tensor *s,
                              const tapml_tensor *o,
                              int64_t i2,
                              double d2,
                              const tapml_tensor *const *none,
                              uint64_t none_count,
                              double d3,
                              double d4,
                              double d5,
                              double d6,
                              double d7,
                              double d8,
                              double d9)
{
    snprintf(seen, sizeof(seen),
             "%d %d %u %llu %u %lld %g %d %u %lld %g %d %llu %g %g %g %g %g %g %g", queue != NULL,
             call != NULL, a->dtype, (unsigned long long)list_count, list[1]->dtype, (long long)i,
             d, s == NULL, o->dtype, (long long)i2, d2, none == NULL,
             (unsigned long long)none_count, d3, d4, d5, d6, d7, d8, d9);
    return -5;
}

static tapml_op_impl impl_of(const tapml_op *op, tapml_fn function)
{
    return (tapml_op_impl){
        .hdr = TAPML_HDR(tapml_op_impl), .op = op, .fn = function, .convention = 1};
}

Test(call, every_kind_arrives_as_it_was_given)
{
    struct call_frame frame;
    const tapml_op_impl impl = impl_of(&every, (tapml_fn)every_run);
    const tapml_tensor a = {.dtype = 11};
    const tapml_tensor b = {.dtype = 22};
    const tapml_tensor *const list[] = {&a, &b, &a};
    tapml_object object = {NULL};
    tapml_value args[ALL] = {
        {.kind = TAPML_P_TENSOR_IN, .u.p = &a},
        {.kind = TAPML_P_TENSORS_IN, .count = 3, .u.p = list},
        {.kind = TAPML_P_I64, .u.i = INT64_MIN},
        {.kind = TAPML_P_F64, .u.d = 0.5},
        {.kind = TAPML_V_NONE, .u.p = &a},
        {.kind = TAPML_P_TENSOR_OUT, .u.p = &b},
        {.kind = TAPML_P_I64, .u.i = 7},
        {.kind = TAPML_P_F64, .u.d = -1e300},
        {.kind = TAPML_V_NONE, .count = 9},
    };
    for (int i = 9; i < ALL; ++i) {
        args[i] = (tapml_value){.kind = TAPML_P_F64, .u.d = i};
    }
    cr_assert_eq(call_prepare(&impl, &frame), TAPML_OK, "%s", status_message());
    const size_t made = alloc_made();
    cr_assert_eq(call_run(&frame, &object, (tapml_call *)(void *)&object, args), -5);
    cr_assert_eq(alloc_made(), made);
    cr_assert_str_eq(seen,
                     "1 1 11 3 22 -9223372036854775808 0.5 1 22 7 -1e+300 1 0 9 10 11 12 13 14 15");
}

Test(call, what_has_no_frame_is_refused)
{
    struct call_frame frame;
    tapml_op_impl impl = impl_of(&every, NULL);
    cr_assert_eq(call_prepare(&impl, &frame), TAPML_ABI_MISMATCH);
    impl.fn = (tapml_fn)every_run;
    impl.convention = 2;
    cr_assert_eq(call_prepare(&impl, &frame), TAPML_ABI_MISMATCH);
    cr_assert_not_null(strstr(status_message(), "found convention 2"), "%s", status_message());

    const tapml_param odd = {.hdr = TAPML_HDR(tapml_param), .name = "odd", .kind = 7};
    const tapml_param *params[CALL_PARAMS_MAX + 1] = {&odd};
    tapml_op op = every;
    op.params = params;
    op.n_params = 1;
    impl = impl_of(&op, (tapml_fn)every_run);
    cr_assert_eq(call_prepare(&impl, &frame), TAPML_ABI_MISMATCH);
    op.n_params = CALL_PARAMS_MAX + 1;
    cr_assert_eq(call_prepare(&impl, &frame), TAPML_ABI_MISMATCH);
}

// -- Both ways ---------------------------------------------------------------------------------

// What a function of any op was given: 8 bytes of each argument.
struct given {
    unsigned count;
    uint64_t words[CALL_SLOTS_MAX];
};

static void note(ffi_cif *cif, void *result, void **args, void *user)
{
    struct given *given = user;
    given->count = cif->nargs;
    for (unsigned i = 0; i < cif->nargs; ++i) {
        memcpy(&given->words[i], args[i], sizeof(given->words[i]));
    }
    *(ffi_arg *)result = (ffi_arg)TAPML_NOT_FOUND;
}

// A value of its own for each parameter; none for the optional ones where `has_all` is 0.
static void fill(const tapml_op *op, int has_all, tapml_value *args)
{
    static const tapml_tensor tensors[CALL_PARAMS_MAX];
    for (uint32_t p = 0; p < op->n_params; ++p) {
        const tapml_param *param = op->params[p];
        args[p] = (tapml_value){.kind = param->kind};
        if (param->kind == TAPML_P_I64) {
            args[p].u.i = -1000 - p;
        } else if (param->kind == TAPML_P_F64) {
            args[p].u.d = 0.5 + p;
        } else {
            args[p].u.p = &tensors[p];
            args[p].count = param->kind == TAPML_P_TENSORS_IN ? 7 + p : 0;
        }
        if (!has_all && (param->effects & TAPML_E_OPTIONAL) != 0) {
            args[p].kind = TAPML_V_NONE;
        }
    }
}

static void compare_ways(const tapml_op *op, int has_all)
{
    struct call_frame frame;
    struct given given[2];
    tapml_value args[CALL_PARAMS_MAX];
    tapml_object queue;
    struct given *now = &given[0];
    void *code = NULL;
    ffi_closure *closure = ffi_closure_alloc(sizeof(*closure), &code);
    cr_assert_not_null(closure);
    tapml_op_impl impl = {.hdr = TAPML_HDR(tapml_op_impl), .op = op, .convention = 1};
    memcpy(&impl.fn, &code, sizeof(code));
    cr_assert_eq(call_prepare(&impl, &frame), TAPML_OK, "%s", status_message());
    fill(op, has_all, args);
    for (int way = 0; way < 2; ++way) {
        now = &given[way];
        memset(now, 0, sizeof(*now));
        cr_assert_eq(ffi_prep_closure_loc(closure, &frame.cif, note, now, code), FFI_OK);
        cr_assert_eq(frame.typed != NULL, way == 1);
        cr_assert_eq(call_run(&frame, &queue, NULL, args), TAPML_NOT_FOUND);
        call_use_typed(&frame, op);
    }
    cr_assert_eq(given[0].count, given[1].count, "%s", op->name);
    for (unsigned i = 0; i < given[0].count; ++i) {
        cr_assert_eq(given[0].words[i], given[1].words[i], "%s: argument %u", op->name, i);
    }
    ffi_closure_free(closure);
}

Test(call, gives_each_op_the_same_arguments_both_ways)
{
    for (size_t i = 0; tapml_ops[i]; ++i) {
        compare_ways(tapml_ops[i], 1);
        compare_ways(tapml_ops[i], 0);
    }
}

Test(call, goes_through_libffi_for_what_is_not_the_hosts)
{
    struct call_frame frame;
    const tapml_op copy = tapml_silu;
    const tapml_op_impl impl = {
        .hdr = TAPML_HDR(tapml_op_impl), .op = &copy, .fn = (tapml_fn)every_run, .convention = 1};
    cr_assert_eq(call_prepare(&impl, &frame), TAPML_OK);
    call_use_typed(&frame, &copy);
    cr_assert_null(frame.typed);
    call_use_typed(&frame, &tapml_silu);
    cr_assert_not_null(frame.typed);
}
