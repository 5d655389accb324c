// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tricky_backend.h"
#include "verify/conduct_probe.h"

#include <criterion/criterion.h>

enum { COUNT = 6, BYTES = COUNT * sizeof(float) };

static const int64_t shape[] = {2, 3};
static struct conduct_probe *probe;
static struct backend *backend; // The probe's.
static tapml_object *buffers[2];
static tapml_tensor tensors[2];
static tapml_value args[2];

// silu over [2, 3] of ones, where the output has sevens.
static void begin(void)
{
    static float ones[COUNT], sevens[COUNT];
    enum trick trick = TRICK_ADDS;
    struct backend *inner = NULL;
    judged_store_begin();
    MUST(trick_open(&trick, &inner));
    MUST(conduct_probe_create(inner, &probe));
    backend = conduct_probe_backend(probe);
    for (int i = 0; i < COUNT; i++) {
        ones[i] = 1;
        sevens[i] = 7;
    }
    for (int i = 0; i < 2; i++) {
        MUST(backend_buffer_new(backend, BYTES, &buffers[i]));
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = TAPML_F32,
                                    .rank = 2,
                                    .shape = shape,
                                    .buffer = buffers[i]};
        args[i] = (tapml_value){.kind = i == 0 ? TAPML_P_TENSOR_IN : TAPML_P_TENSOR_OUT,
                                .u.p = &tensors[i]};
        MUST(backend_write(backend, buffers[i], 0, i == 0 ? ones : sevens, BYTES));
    }
    MUST(backend_wait(backend));
}

static void end(void)
{
    for (int i = 0; i < 2; i++) {
        backend_buffer_free(backend, buffers[i]);
    }
    conduct_probe_destroy(probe);
    judged_store_end();
}

TestSuite(conduct_probe, .init = begin, .fini = end);

// The first number of the output after a call in `mode`.
static float call_in(enum conduct_mode mode)
{
    struct inferred inferred;
    float found = 0;
    const struct backend_call call = {
        .op = &tapml_silu, .args = args, .inferred = &inferred, .instance = "silu"};
    MUST(infer_call(catalogue_find(registry_catalogue(plugins.registry), "tapml.silu", 1), args,
                    &inferred));
    conduct_probe_set(probe, mode);
    MUST(backend_call(backend, &call));
    MUST(backend_read(backend, buffers[1], 0, &found, sizeof(found)));
    MUST(backend_wait(backend));
    return found;
}

static const float right = 0.731058579F;

Test(conduct_probe, a_plain_call_finds_what_was_there)
{
    const float found = call_in(CONDUCT_PLAIN);
    cr_expect_float_eq(found, 7 + right, 1e-5);
    cr_expect_gt(conduct_probe_time_ns(probe), 0u);
}

Test(conduct_probe, outputs_can_be_zero_before)
{
    const float found = call_in(CONDUCT_ZEROS);
    cr_expect_float_eq(found, right, 1e-5);
}

Test(conduct_probe, what_is_copied_at_once_is_what_the_call_gave)
{
    const float found = call_in(CONDUCT_AT_ONCE);
    cr_expect_float_eq(found, 7 + right, 1e-5);
}

Test(conduct_probe, it_can_wait_a_while)
{
    const float found = call_in(CONDUCT_LATE);
    cr_expect_float_eq(found, 7 + right, 1e-5);
    cr_expect_lt(conduct_probe_time_ns(probe), CONDUCT_LATE_MS * 1000000u, "the pause counts");
}
