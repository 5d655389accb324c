// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "far.h"

Test(loopback, waits_for_much_work_by_itself)
{
    enum { CALLS = 40000 }; // More messages than are kept.
    const float values[] = {1, 2, 3, 4};
    struct far far;
    far_open(&far, "good:0000:02/b");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, values, sizeof(values));
    for (int i = 0; i < CALLS; i++) {
        FAR_MUST(far_trouble(&far, x, y, 0, "layers.0/attn/a_long_name_for_an_instance"));
    }
    FAR_MUST(backend_flush(far.backend));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_eq(backend_launches(far.backend), (uint64_t)3 * CALLS);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
    far_close(&far);
}

Test(loopback, stages_more_than_is_kept)
{
    enum { BYTES = 1 << 20, TURNS = 100 };
    static unsigned char image[BYTES], found[BYTES];
    struct far far;
    far_open(&far, "good:0000:02/b");
    tapml_object *buffer = far_buffer(&far, image, BYTES);
    for (int i = 0; i < TURNS; i++) {
        memset(image, i, BYTES);
        FAR_MUST(backend_write(far.backend, buffer, 0, image, BYTES));
    }
    FAR_MUST(backend_read(far.backend, buffer, 0, found, BYTES));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_arr_eq(found, image, BYTES);
    backend_buffer_free(far.backend, buffer);
    far_close(&far);
}
