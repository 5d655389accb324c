// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Products on a Vulkan device with cooperative matrices, by the library alone: which results are
// not written at all. Nothing of TapML is needed.
//
//     cc unwritten_corner.c -lggml -lggml-base -lm -o unwritten_corner
//     GGML_VK_VISIBLE_DEVICES=0 ./unwritten_corner
//
// The exit status is 1 if some are not. GGML_VK_DISABLE_COOPMAT=1 makes it 0.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <stdint.h>
#include <stdio.h>

enum { IN = 128, OUT_MOST = 34, ROWS_MOST = 10, CONTEXT_BYTES = 1 << 16 };

static const float poison = -12345;

// Values of no meaning between -1 and 1.
static void fill(float *values, int count)
{
    uint32_t state = 1;

    for (int i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        values[i] = (float)(int32_t)state / 2147483648.0F;
    }
}

// Computes rows x out results, and returns how many still are what was there before.
static int count_unwritten(ggml_backend_t backend, int out, int rows, int *out_first)
{
    static float weights[IN * OUT_MOST], inputs[IN * ROWS_MOST], results[OUT_MOST * ROWS_MOST];
    struct ggml_context *context = ggml_init((struct ggml_init_params){CONTEXT_BYTES, NULL, true});
    struct ggml_tensor *w = ggml_new_tensor_2d(context, GGML_TYPE_F32, IN, out);
    struct ggml_tensor *x = ggml_new_tensor_2d(context, GGML_TYPE_F32, IN, rows);
    struct ggml_tensor *y = ggml_mul_mat(context, w, x);
    struct ggml_cgraph *graph = ggml_new_graph_custom(context, 8, false);
    int count = 0;

    ggml_build_forward_expand(graph, y);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(context, backend);

    fill(weights, IN * out);
    fill(inputs, IN * rows);
    for (int i = 0; i < out * rows; i++) {
        results[i] = poison;
    }
    ggml_backend_tensor_set(w, weights, 0, ggml_nbytes(w));
    ggml_backend_tensor_set(x, inputs, 0, ggml_nbytes(x));
    ggml_backend_tensor_set(y, results, 0, ggml_nbytes(y));
    ggml_backend_graph_compute(backend, graph);
    ggml_backend_tensor_get(y, results, 0, ggml_nbytes(y));
    for (int i = out * rows; i-- > 0;) {
        if (results[i] == poison) {
            *out_first = i;
            count++;
        }
    }
    ggml_backend_buffer_free(buffer);
    ggml_free(context);
    return count;
}

int main(void)
{
    int all = 0;

    ggml_backend_load_all();
    ggml_backend_dev_t device = ggml_backend_dev_by_name("Vulkan0");

    if (device == NULL) {
        fprintf(stderr, "there is no device Vulkan0\n");
        return 2;
    }
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);

    for (int out = OUT_MOST - 2; out <= OUT_MOST; out++) {
        for (int rows = 1; rows <= ROWS_MOST; rows++) {
            int first = 0;
            const int count = count_unwritten(backend, out, rows, &first);

            if (count > 0) {
                printf("%d outputs, %d rows: %d of %d results are not written, the first is %d\n",
                       out, rows, count, out * rows, first);
            }
            all += count;
        }
    }
    ggml_backend_free(backend);
    return all > 0;
}
