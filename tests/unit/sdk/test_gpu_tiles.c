// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu_notebook.h"

#include <tapml/codec/tiles.h>
#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS = 24, TOKENS = 2 };

static void open_notebook(struct gpu_notebook *notebook)
{
    tapml_call call = {0};

    *notebook = (struct gpu_notebook){.option = "tile", .value = "large"};
    cr_assert_eq(gpu_notebook_open(notebook, &call), TAPML_OK, "%s", call.message);
}

// A call of linear with a weight that is the tensor `w`, but for what it has of the notebook.
static tapml_status linear(struct gpu_notebook *notebook, tapml_tensor w, tapml_call *call)
{
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0, at = 0;
    const int64_t x_shape[] = {TOKENS, w.shape[w.rank - 1]}, y_shape[] = {TOKENS, ROWS};
    const tapml_tensor x = gpu_notebook_tensor(notebook, TAPML_F32, 2, x_shape);
    const tapml_tensor y = gpu_notebook_tensor(notebook, TAPML_F32, 2, y_shape);

    cr_assert_eq(notebook->table->ops(notebook->device, call, &list, &count), TAPML_OK);
    while (strcmp(list[at]->op->name, "tapml.linear") != 0) {
        at++;
    }
    w.buffer = x.buffer;
    return ((tapml_linear_fn)list[at]->fn)(notebook->queue, call, &x, &w, NULL, 0, &y);
}

static tapml_tensor weight(const tapml_encoding *encoding, const int64_t *shape)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = TAPML_U8,
                          .rank = 2,
                          .shape = shape,
                          .encoding = encoding};
}

// The last constant of a kernel is the type of quants. Four of them are read at a time where rows
// begin with whole lane groups: those of an odd number of bytes do not, those of words do.
Test(gpu_tiles, one_variant_has_a_constant_for_quants)
{
    static const struct {
        const char *id;
        int64_t columns;
        uint32_t quants, variant;
    } cases[] = {
        {"tiles.e4m3.f32.128x128/1", 36, CODEC_E4M3, K_V_TILES | K_V_X4},
        {"tiles.e4m3.f32.128x128/1", 37, CODEC_E4M3, K_V_TILES},
        {"tiles.e2m1.e8m0.1x32/1", 36, CODEC_E2M1, K_V_TILES | K_V_X4},
        {"tiles.e2m1.e8m0.1x32/1", 38, CODEC_E2M1, K_V_TILES},
        {"tiles.u4.f16.1x32.zeros/1", 36, CODEC_U4, K_V_TILES | K_V_X4},
        {"tiles.u8.f16.1x32.zeros/1", 35, CODEC_U8, K_V_TILES},
    };
    struct gpu_notebook notebook;
    tapml_call call = {0};

    open_notebook(&notebook);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const int64_t shape[] = {ROWS, cases[i].columns};
        const tapml_encoding *encoding = codec_tiles_find(cases[i].id)->encoding;

        cr_assert_eq(linear(&notebook, weight(encoding, shape), &call), TAPML_OK, "%s",
                     call.message);
        cr_expect_str_eq(notebook.kernel->name, "linear_rows");
        cr_expect_eq(notebook.kernel->variant, cases[i].variant, "%s of %ld", cases[i].id,
                     (long)cases[i].columns);
        cr_expect_eq(notebook.tune[notebook.kernel->n_tune - 1], cases[i].quants);
        cr_expect_str_eq(notebook.kernel->tune[notebook.kernel->n_tune - 1].name, "QUANTS");
    }
    gpu_notebook_close(&notebook);
}

// Every encoding that there is has a form, and a device says that it takes them.
Test(gpu_tiles, all_are_taken)
{
    struct gpu_notebook notebook;
    const tapml_device_info *const *devices = NULL;
    const int64_t shape[] = {ROWS, 40};
    uint32_t count = 0;
    tapml_call call = {0};

    open_notebook(&notebook);
    cr_assert_eq(notebook.table->devices(notebook.root, &call, &devices, &count), TAPML_OK);
    cr_expect(devices[0]->traits & TAPML_DEVICE_TILES);
    for (uint32_t i = 0; codec_tiles_at(i) != NULL; i++) {
        const tapml_encoding *encoding = codec_tiles_at(i)->encoding;

        cr_expect_eq(linear(&notebook, weight(encoding, shape), &call), TAPML_OK, "%s: %s",
                     encoding->id, call.message);
    }
    gpu_notebook_close(&notebook);
}

Test(gpu_tiles, refusals)
{
    static const tapml_span span = {.hdr = TAPML_HDR(tapml_span),
                                    .block_bytes = 1,
                                    .align = 16,
                                    .tile_rows = 1,
                                    .tile_values = 1};
    static const tapml_span *const spans[] = {&span, &span};
    static const tapml_encoding unknown = {TAPML_HDR(tapml_encoding), "tiles.e3m4.f32.row/1", 1, 2,
                                           spans};
    const tapml_encoding *known = codec_tiles_find("tiles.e4m3.f32.row/1")->encoding;
    const int64_t shape[] = {1, ROWS, 40};
    const tapml_tensor *apart[2] = {NULL};
    struct gpu_notebook notebook;
    tapml_tensor w = weight(&unknown, shape + 1);
    tapml_call call = {0};

    open_notebook(&notebook);
    cr_expect_eq(linear(&notebook, w, &call), TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(call.message, "encoding 'tiles.e3m4.f32.row/1', which no kernel has");
    w.encoding = known;
    w.spans = apart;
    cr_expect_eq(linear(&notebook, w, &call), TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(call.message, "tiles in a buffer for each span, kernels read one buffer");
    w.spans = NULL;
    w.rank = 3;
    w.shape = shape;
    cr_expect_eq(linear(&notebook, w, &call), TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(call.message, "a tensor of rank 3 in tiles, expected a matrix");
    cr_expect_eq(notebook.launch_count, 0);
    gpu_notebook_close(&notebook);
}
