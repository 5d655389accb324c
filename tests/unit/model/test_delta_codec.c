// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "model/delta_codec.h"
#include "tensor/convert.h"

#include <tapml/tensor.h>

#include <criterion/criterion.h>
#include <string.h>

enum { COUNT = 9001 }; // More than two pieces, and no multiple of eight.

// A base, and a fine-tune in which value i has moved by a number that grows with i.
static void fill(uint32_t dtype, void *base, void *fine)
{
    static double from[COUNT], to[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        from[i] = 0.25 * (i % 7) - 1;
        to[i] = from[i] + (i % 2 == 0 ? 1 : -1) * 0.5 * i / COUNT;
    }
    convert_from_f64(dtype, from, COUNT, base);
    convert_from_f64(dtype, to, COUNT, fine);
}

// What comes out after packing and unpacking.
static void there_and_back(struct delta_form *form, const void *base, const void *fine, void *out)
{
    void *packed = NULL;
    uint64_t bytes = 0;
    unsigned char *body = alloc_raw((size_t)delta_codec_bytes(form));
    cr_assert_eq(delta_codec_make(form, base, fine, body), TAPML_OK);
    cr_assert_eq(delta_codec_pack(body, delta_codec_bytes(form), &packed, &bytes), TAPML_OK);
    memset(body, 0xaa, (size_t)delta_codec_bytes(form));
    cr_assert_eq(delta_codec_unpack(packed, bytes, body, delta_codec_bytes(form)), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(delta_codec_apply(form, base, body, out), TAPML_OK, "%s", status_message());
    cr_assert_eq(delta_codec_unpack(packed, bytes, body, delta_codec_bytes(form) - 1),
                 TAPML_INVALID);
    cr_assert_eq(delta_codec_unpack(packed, bytes - 1, body, delta_codec_bytes(form)),
                 TAPML_INVALID);
    alloc_free(packed);
    alloc_free(body);
}

Test(delta_codec, xor_is_exact_for_every_type)
{
    static const uint32_t dtypes[] = {TAPML_F64, TAPML_F32, TAPML_F16, TAPML_BF16, TAPML_I32};
    static double base[COUNT], fine[COUNT], out[COUNT];
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); ++i) {
        struct delta_form form = {.kind = DELTA_XOR, .dtype = dtypes[i], .count = COUNT};
        fill(dtypes[i], base, fine);
        there_and_back(&form, base, fine, out);
        cr_assert_eq(memcmp(out, fine, (size_t)delta_codec_bytes(&form)), 0);
    }
}

Test(delta_codec, sparse_keeps_so_many_of_the_largest)
{
    static float base[COUNT], fine[COUNT], out[COUNT];
    struct delta_form form = {
        .kind = DELTA_SPARSE, .dtype = TAPML_F32, .count = COUNT, .kept = 1000};
    fill(TAPML_F32, base, fine);
    there_and_back(&form, base, fine, out);
    cr_assert_eq(form.kept, 1000);
    for (int i = 0; i < COUNT; ++i) {
        if (i < COUNT - 1000) {
            cr_assert_eq(out[i], base[i], "value %d", i);
        } else { // Rounded to f16 in parts of the largest change, 0.5.
            cr_assert_float_eq(out[i], fine[i], 0.5F / 1024, "value %d", i);
            cr_assert_neq(out[i], base[i]);
        }
    }
}

Test(delta_codec, of_equal_changes_the_first_stay)
{
    static const float base[6] = {0}, fine[6] = {2, 1, 1, 0, 1, -2};
    static const float expected[6] = {2, 1, 1, 0, 0, -2};
    float out[6];
    struct delta_form form = {.kind = DELTA_SPARSE, .dtype = TAPML_F32, .count = 6, .kept = 4};
    there_and_back(&form, base, fine, out);
    cr_assert_eq(memcmp(out, expected, sizeof(out)), 0);
}

Test(delta_codec, what_does_not_change_is_not_kept)
{
    static const float base[6] = {1}, fine[6] = {1, 0, 0, 3};
    float out[6];
    struct delta_form form = {.kind = DELTA_SPARSE, .dtype = TAPML_F32, .count = 6, .kept = 6};
    there_and_back(&form, base, fine, out);
    cr_assert_eq(form.kept, 1);
    cr_assert_eq(memcmp(out, fine, sizeof(out)), 0);
}

Test(delta_codec, a_body_that_is_none_is_refused)
{
    static const float base[6] = {0};
    static const struct {
        uint32_t factor; // Bits of an f32.
        unsigned char bits;
        const char *piece;
    } cases[] = {{0x7f800000, 0x03, "found inf and 2"},
                 {0x3f800000, 0x07, "expected a finite factor and 2 changes, found 1 and 3"},
                 {0x3f800000, 0x81, "some beyond the last value"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        float out[6];
        unsigned char body[4 + 1 + 4] = {0};
        const struct delta_form form = {
            .kind = DELTA_SPARSE, .dtype = TAPML_F32, .count = 6, .kept = 2};
        memcpy(body, &cases[i].factor, sizeof(cases[i].factor));
        body[4] = cases[i].bits;
        cr_assert_eq(delta_codec_apply(&form, base, body, out), TAPML_INVALID);
        cr_assert_not_null(strstr(status_message(), cases[i].piece), "%s", status_message());
    }
}
