// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/fused.h"
#include "schema/plain_frame.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

enum { TOKENS = 3, WIDTH = 4, OUT = 2 };

static struct catalogue *catalogue;
static struct arena *arena;
static struct fused fused;
static struct plain_frame *frame;
static struct inferred inferred;
static tapml_object buffer;
static const int64_t shapes[FUSED_PARAMS][2] = {
    {TOKENS, WIDTH}, {WIDTH}, {OUT, WIDTH}, {0}, {TOKENS, OUT}};
static tapml_tensor tensors[FUSED_PARAMS];
static tapml_value args[FUSED_PARAMS];

static void begin(void)
{
    arena = arena_create();
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    for (size_t i = 0; tapml_ops[i]; i++) {
        cr_assert_eq(catalogue_add(catalogue, tapml_ops[i], "the host", NULL), TAPML_OK);
    }
}

static void end(void)
{
    catalogue_destroy(catalogue);
    arena_destroy(arena);
}

TestSuite(plain_frame, .init = begin, .fini = end);

static void make(const char *form)
{
    struct catalogue_op found;
    const struct plain_form *read = NULL;
    fused_init(&fused, form);
    cr_assert_eq(catalogue_add(catalogue, &fused.op, "a test", &found), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(plain_form_create(found.schema, catalogue, arena, &read), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(plain_frame_create(read, arena, &frame), TAPML_OK);
    for (uint32_t p = 0; p < FUSED_PARAMS; p++) {
        tensors[p] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = TAPML_F32,
                                    .rank = p == FUSED_WEIGHT ? 1 : 2,
                                    .shape = shapes[p],
                                    .offset = 64,
                                    .buffer = &buffer};
        args[p] = (tapml_value){.kind = fused.params[p].kind, .u.p = &tensors[p]};
    }
    args[FUSED_EPS] = (tapml_value){.kind = TAPML_P_F64, .u.d = 0.5};
    cr_assert_eq(infer_call(found.schema, args, &inferred), TAPML_OK, "%s", status_message());
}

static tapml_status evaluate(enum activation activation)
{
    return plain_frame_evaluate(frame, args, &inferred, activation);
}

Test(plain_frame, arguments_are_those_of_the_op_and_temporaries)
{
    make(FUSED_FORM);
    cr_assert_eq(evaluate(ACTIVATION_F32), TAPML_OK, "%s", status_message());
    const tapml_value *norm = frame->calls[0].args, *product = frame->calls[1].args;
    cr_assert_eq(norm[TAPML_RMS_NORM_X].u.p, &tensors[FUSED_X]);
    cr_assert_eq(norm[TAPML_RMS_NORM_EPS].u.d, 0.5);
    cr_assert_eq(product[TAPML_LINEAR_B].kind, TAPML_V_NONE);
    cr_assert_eq(product[TAPML_LINEAR_TRANSPOSED].u.i, 0);
    cr_assert_eq(product[TAPML_LINEAR_X].u.p, norm[TAPML_RMS_NORM_Y].u.p);
    const struct plain_temporary *h = &frame->temporaries[0];
    cr_assert_eq(frame->temporary_count, 1);
    cr_assert_eq(h->tensor.rank, 2);
    cr_assert_eq(h->shape[0], TOKENS);
    cr_assert_eq(h->shape[1], WIDTH);
    cr_assert_eq(h->bytes, TOKENS * WIDTH * sizeof(float));
    cr_assert_null(h->tensor.buffer);
    const uint32_t values[] = {FUSED_PARAMS, FUSED_W, FUSED_Y};
    cr_assert_eq(frame->calls[1].tensor_count, 3);
    cr_assert_arr_eq(frame->calls[1].values, values, sizeof(values));
}

Test(plain_frame, temporaries_are_of_the_activation)
{
    make(FUSED_FORM);
    cr_assert_eq(evaluate(ACTIVATION_F16), TAPML_OK, "%s", status_message());
    cr_assert_eq(frame->temporaries[0].tensor.dtype, TAPML_F32, "h is of the dtype of x");
    tensors[FUSED_X].dtype = tensors[FUSED_Y].dtype = TAPML_F16;
    cr_assert_eq(evaluate(ACTIVATION_F16), TAPML_OK, "%s", status_message());
    cr_assert_eq(frame->temporaries[0].tensor.dtype, TAPML_F16);
    cr_assert_eq(frame->temporaries[0].bytes, TOKENS * WIDTH * 2);
}

Test(plain_frame, views_lie_in_their_values)
{
    make("tapml.silu(x = x, y = h); tapml.copy(x = h{T, out : width, 1 : out}, y = y)");
    cr_assert_eq(evaluate(ACTIVATION_F32), TAPML_OK, "%s", status_message());
    plain_frame_set_buffer(frame, 0, &buffer);
    const tapml_tensor *view = frame->calls[1].args[TAPML_COPY_X].u.p;
    cr_assert_eq(view->buffer, &buffer);
    cr_assert_eq(view->offset, OUT * sizeof(float));
    cr_assert_eq(view->shape[1], OUT);
    cr_assert_eq(view->stride[0], WIDTH);
    cr_assert_eq(frame->temporaries[0].tensor.buffer, &buffer);
}

static void refused(const char *form, const char *piece)
{
    make(form);
    cr_assert_eq(evaluate(ACTIVATION_F32), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
}

Test(plain_frame, a_view_beyond_its_value_is_refused)
{
    refused("tapml.copy(x = x{T, out : width, 1 : 3}, y = y)",
            "its view reaches 10 elements from 3 on, of 12");
}

Test(plain_frame, a_view_with_too_few_strides_is_refused)
{
    refused("tapml.copy(x = x{T, out : 1}, y = y)", "2 axes, 1 strides");
}

Test(plain_frame, an_offset_below_zero_is_refused)
{
    refused("tapml.copy(x = x{T, out : width, 1 : out - 3}, y = y)", "offset -1");
}

Test(plain_frame, shapes_that_a_call_does_not_take_are_refused)
{
    refused(
        "tapml.add(a = x, b = x{width, T}, y = h); tapml.copy(x = h{T, out : width, 1 : 0}, y = y)",
        "call 1 of 'tapml.add'");
}

Test(plain_frame, what_is_not_dense_has_no_views)
{
    static const int64_t stride[] = {WIDTH + 1, 1};
    make("tapml.copy(x = x{T, out : width, 1 : 0}, y = y)");
    tensors[FUSED_X].stride = stride;
    cr_assert_eq(evaluate(ACTIVATION_F32), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "a view of what is not dense"));
}
