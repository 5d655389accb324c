// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "far.h"
#include "harness/schemas.h"
#include "link/far_knobs.h"

#include <tapml/ops.h>

Test(far_knobs, what_is_behind_the_link_is_told)
{
    static const char *const names[] = {"tunes", NULL};
    static const int64_t four[] = {4};
    const tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = four};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &x}};
    struct far far = {.registry = NULL};
    struct knob_space space;
    far.registry = zoo_registry(names, NULL, &far.ini);
    far.arena = arena_create();
    FAR_MUST(registry_open(far.registry, "tunes:first", &far.near));
    FAR_MUST(loopback_create(far.near, registry_catalogue(far.registry), far.arena, &far.backend));
    FAR_MUST(
        knobs_ask(far.backend, schema_of(far_op(&far, "tapml.silu")), args, far.arena, &space));
    cr_expect_eq(space.count, 2);
    cr_expect_str_eq(space.shape_class, "n=4");
    cr_expect_eq(space.legal_count, 6);
    // It gets its settings when it is opened.
    cr_expect_eq(knobs_set(far.backend, "tapml.silu", &(tapml_setting){.n_values = 0}),
                 TAPML_UNIMPLEMENTED);
    far_close(&far);
}
