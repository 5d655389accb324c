// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu_notebook.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS = 12, WIDTH = 100, OUTPUTS = 40, STRIDE = 128 };

static tapml_linear_fn linear_of(struct gpu_notebook *notebook)
{
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0, i = 0;
    tapml_call call = {0};

    cr_assert_eq(notebook->table->ops(notebook->device, &call, &list, &count), TAPML_OK);
    while (i < count && strcmp(list[i]->op->name, tapml_linear.name) != 0) {
        i++;
    }
    cr_assert_lt(i, count);
    return (tapml_linear_fn)list[i]->fn;
}

static void open_notebook(struct gpu_notebook *notebook)
{
    tapml_call call = {0};

    cr_assert_eq(gpu_notebook_open(notebook, &call), TAPML_OK, "%s", call.message);
}

struct shape {
    uint32_t x, w; // Types.
    int64_t rows, width, outputs;
    int is_biased;
};

// Tensors lie over each other in the one buffer: nothing is computed.
static void run(struct gpu_notebook *notebook, struct shape s)
{
    const int64_t shapes[][2] = {{s.rows, s.width}, {s.outputs, s.width}, {s.rows, s.outputs}};
    tapml_tensor x = gpu_notebook_tensor(notebook, s.x, 2, shapes[0]);
    tapml_tensor w = gpu_notebook_tensor(notebook, s.w, 2, shapes[1]);
    tapml_tensor b = gpu_notebook_tensor(notebook, TAPML_F32, 1, &shapes[2][1]);
    tapml_tensor y = gpu_notebook_tensor(notebook, s.x, 2, shapes[2]);
    tapml_call call = {0};

    y.offset = 64;
    cr_assert_eq(
        linear_of(notebook)(notebook->queue, &call, &x, &w, s.is_biased ? &b : NULL, 0, &y),
        TAPML_OK, "%s", call.message);
}

// The least part comes first; without a bias the sums are y itself.
Test(gpu_products, parts_of_bf16_straight_into_y)
{
    struct gpu_notebook notebook = {.takes_products = 1};

    open_notebook(&notebook);
    run(&notebook, (struct shape){TAPML_F32, TAPML_BF16, ROWS, WIDTH, OUTPUTS, 0});
    cr_assert_eq(notebook.product_count, 3);
    cr_expect_eq(notebook.launch_count, 1);
    cr_expect_str_eq(notebook.kernel->name, "product_parts");
    for (uint32_t i = 0; i < 3; i++) {
        const struct gpu_product *product = &notebook.products[i];

        cr_expect_eq(product->type, GPU_PRODUCT_BF16);
        cr_expect_eq(product->x.at, (2 - i) * ROWS * STRIDE);
        cr_expect_eq(product->x.stride, STRIDE);
        cr_expect_eq(product->w.stride, WIDTH);
        cr_expect_eq(product->y.at, 16);
        cr_expect_eq(product->y.stride, OUTPUTS);
        cr_expect(product->rows == ROWS && product->outputs == OUTPUTS && product->width == WIDTH);
        cr_expect(product->goes_on == (i > 0) && product->is_minor == (i < 2));
        cr_expect(product->factor == 1 && product->number == 1);
    }
    gpu_notebook_close(&notebook);
}

// Rows are scaled: a kernel makes y of the sums. A rest was multiplied by 2048.
Test(gpu_products, parts_of_f16_by_way_of_sums)
{
    struct gpu_notebook notebook = {.takes_products = 1};

    open_notebook(&notebook);
    run(&notebook, (struct shape){TAPML_F32, TAPML_F16, ROWS, WIDTH, OUTPUTS, 1});
    cr_assert_eq(notebook.product_count, 3);
    cr_expect_eq(notebook.launch_count, 2);
    cr_expect_str_eq(notebook.kernel->name, "product_sum");
    cr_expect_eq(notebook.products[0].factor, 0x1p-22f);
    cr_expect_eq(notebook.products[1].factor, 0x1p-11f);
    cr_expect_eq(notebook.products[2].factor, 1.0f);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(notebook.products[i].type, GPU_PRODUCT_F16);
        cr_expect(notebook.products[i].y.at == 0 && notebook.products[i].y.stride == OUTPUTS);
    }
    gpu_notebook_close(&notebook);
}

Test(gpu_products, one_product_where_types_are_equal)
{
    struct gpu_notebook notebook = {.takes_products = 1};

    open_notebook(&notebook);
    run(&notebook, (struct shape){TAPML_F32, TAPML_F32, ROWS, WIDTH, OUTPUTS, 0});
    cr_assert_eq(notebook.product_count, 1);
    cr_expect_eq(notebook.launch_count, 0);
    cr_expect_eq(notebook.products[0].type, GPU_PRODUCT_F32);
    cr_expect(!notebook.products[0].goes_on && !notebook.products[0].is_minor);
    cr_expect_eq(notebook.products[0].x.stride, WIDTH);
    gpu_notebook_close(&notebook);
}

// The buffers hold so many rows of three parts of this width: two whole pieces, and what is left.
Test(gpu_products, many_rows_go_in_pieces)
{
    enum { LONG = 5461, LEFT = 10 }; // 32 MiB / (3 * 1024 * 2)
    struct gpu_notebook notebook = {.takes_products = 1};

    open_notebook(&notebook);
    run(&notebook, (struct shape){TAPML_F32, TAPML_BF16, 2 * LONG + LEFT, 1024, OUTPUTS, 0});
    cr_assert_eq(notebook.product_count, 9);
    for (uint32_t i = 0; i < 9; i++) {
        cr_expect_eq(notebook.products[i].rows, i < 6 ? LONG : LEFT);
        cr_expect_eq(notebook.products[i].y.at, 16 + (uint64_t)(i / 3) * LONG * OUTPUTS);
    }
    gpu_notebook_close(&notebook);
}

static void expect_kernel(struct gpu_notebook *notebook, struct shape shape)
{
    open_notebook(notebook);
    run(notebook, shape);
    cr_expect_eq(notebook->product_count, 0);
    cr_expect_eq(notebook->launch_count, 1);
    cr_expect_eq(strncmp(notebook->kernel->name, "linear_", 7), 0, "%s", notebook->kernel->name);
    gpu_notebook_close(notebook);
}

Test(gpu_products, else_a_kernel)
{
    struct gpu_notebook none = {.takes_products = 0}, few = {.takes_products = 1};
    struct gpu_notebook mixed = {.takes_products = 1,
                                 .limits = {256, 16384, 65535, 0, 0, GPU_FEATURE_F16}};

    expect_kernel(&none, (struct shape){TAPML_F32, TAPML_BF16, ROWS, WIDTH, OUTPUTS, 0});
    expect_kernel(&few, (struct shape){TAPML_F32, TAPML_BF16, 7, WIDTH, OUTPUTS, 0});
    expect_kernel(&mixed, (struct shape){TAPML_F16, TAPML_F32, ROWS, WIDTH, OUTPUTS, 0});
}

// Without memory for the parts, kernels go on.
Test(gpu_products, no_memory)
{
    struct gpu_notebook notebook = {.takes_products = 1};

    open_notebook(&notebook);
    run(&notebook, (struct shape){TAPML_F32, TAPML_BF16, 2, WIDTH, OUTPUTS, 0});
    notebook.refuses_buffers = 1;
    run(&notebook, (struct shape){TAPML_F32, TAPML_BF16, ROWS, WIDTH, OUTPUTS, 0});
    cr_expect_eq(notebook.product_count, 0);
    cr_expect_eq(notebook.launch_count, 2);
    gpu_notebook_close(&notebook);
}
