// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "carve/description.h"
#include "harness/schemas.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(description, .init = begin, .fini = end);

// silu of [2, 3] into a view with gaps; `bytes` is what the output's memory has.
static tapml_status describe(uint64_t bytes, struct case_argument **out_arguments)
{
    static const int64_t shape[] = {2, 3}, stride[] = {4, 1};
    const tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};
    const tapml_tensor y = {.hdr = TAPML_HDR(tapml_tensor),
                            .dtype = TAPML_F32,
                            .rank = 2,
                            .shape = shape,
                            .stride = stride,
                            .offset = 4};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    const struct backend_origin origins[] = {{.name = "up", .base_bytes = 24},
                                             {.name = "s", .base_bytes = bytes}};
    struct inferred inferred;

    cr_assert_eq(infer_call(schema_of(&tapml_silu), args, &inferred), TAPML_OK);
    return description_make(&(struct backend_call){.op = &tapml_silu,
                                                   .args = args,
                                                   .instance = "s",
                                                   .origins = origins,
                                                   .inferred = &inferred},
                            arena, out_arguments);
}

Test(description, tensors_have_their_layout_and_the_name_of_their_value)
{
    struct case_argument *arguments = NULL;

    cr_assert_eq(describe(36, &arguments), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(arguments[0].name, "x");
    cr_assert_str_eq(arguments[0].origin, "up");
    cr_assert(description_is_tensor(&arguments[0]));
    cr_assert_eq(arguments[0].stride[0], 3);
    cr_assert_eq(arguments[0].content_bytes, 24u);
    cr_assert_eq(arguments[1].stride[0], 4);
    cr_assert_eq(arguments[1].offset_bytes, 4u);
    cr_assert_eq(arguments[1].base_bytes, 36u);
}

Test(description, a_layout_beyond_its_memory_is_refused_by_its_name)
{
    struct case_argument *arguments = NULL;

    cr_assert_neq(describe(8, &arguments), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "parameter 'y'"), "%s", status_message());
    cr_assert_null(arguments);
}
