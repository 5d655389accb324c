// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tensors as kernels address them: rows with two outer strides, or elements with any.
#pragma once

#include "objects.h"

// The rows of a tensor (VIEW in k_view.h): row r begins at at + (r / n) * s0 + (r % n) * s1, all in
// elements.
struct gpu_view {
    uint32_t at, n, s0, s1;
    uint32_t rows, width;
};

// For the parameters of a kernel: `VIEW(x)` there is `GPU_VIEW(x, view, lanes)` here.
#define GPU_VIEW(name, view, lanes)                                                                \
    .name##_at = (view).at / (lanes), .name##_n = (view).n, .name##_s0 = (view).s0 / (lanes),      \
    .name##_s1 = (view).s1 / (lanes)

// Brings `tensor` into the form of a view, or refuses: f32, f16 or i32, the last axis contiguous,
// the others at most two strides once those that continue each other are merged, every index below
// 2^32.
tapml_status gpu_view_rows(struct gpu_queue *queue,
                           tapml_call *call,
                           const tapml_tensor *tensor,
                           struct gpu_view *out_view);

// The same for a weight: f32, bf16, f16, or in blocks, whose elements count from the tensor's
// start.
tapml_status gpu_view_weight(struct gpu_queue *queue,
                             tapml_call *call,
                             const tapml_tensor *tensor,
                             struct gpu_view *out_view);

// Where the spans of a weight in blocks begin (BLOCKS in k_view.h), in words of 32 bits; zeros
// where it is plain. Of a tensor that gpu_view_weight has taken.
struct gpu_blocks {
    uint32_t quants, scales, mins;
};
struct gpu_blocks gpu_view_blocks(const tapml_tensor *weight);

// For the parameters of a kernel: `BLOCKS(w)` there is `GPU_BLOCKS(w, blocks)` here.
#define GPU_BLOCKS(name, blocks)                                                                   \
    .name##_quants = (blocks).quants, .name##_scales = (blocks).scales, .name##_mins = (blocks).mins

// Whether rows can be read four elements at a time.
int gpu_view_is_x4(const struct gpu_view *view);

// The stride of an axis, in elements, also where the tensor has none written down.
int64_t gpu_view_stride(const tapml_tensor *tensor, uint32_t axis);

// K_W_* of k_view.h: the type of a weight as a number, and as the variant of a kernel.
enum {
    GPU_WEIGHT_NONE,
    GPU_WEIGHT_F32,
    GPU_WEIGHT_BF16,
    GPU_WEIGHT_F16,
    GPU_WEIGHT_Q8,
    GPU_WEIGHT_Q4
};
uint32_t gpu_view_weight_kind(const tapml_tensor *weight);
uint32_t gpu_view_weight_variant(const tapml_tensor *weight);

enum { GPU_ELEMENTS_TENSORS_MAX = 3 };

// Tensors of one shape, element by element (k_elements.h): axes that continue each other in all of
// them are merged, innermost first.
struct gpu_elements {
    uint32_t axes, lanes;
    uint32_t count;             // Of lane groups.
    uint32_t n[TAPML_MAX_RANK]; // In lane groups on axis 0.
    struct {
        uint32_t at, stride[TAPML_MAX_RANK];
    } tensor[GPU_ELEMENTS_TENSORS_MAX];
};

// Finds the merged axes of `count` tensors of f32, f16 or i32, and whether they can be read four
// elements at a time. Refuses encodings, negative strides and indices from 2^32 on.
tapml_status gpu_view_elements(struct gpu_queue *queue,
                               tapml_call *call,
                               const tapml_tensor *const *tensors,
                               uint32_t count,
                               struct gpu_elements *out_elements);
