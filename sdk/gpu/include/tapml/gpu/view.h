// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tensors as kernels address them: rows with two outer strides, or elements with any strides, in
// numbers of 32 bits, which are parameters of the kernel.
//
// Buffers are bound whole, so that `at` is the place of a tensor's first element in its buffer. All
// numbers count elements of the tensor, unless it is said otherwise.
//
// Functions that take a queue are for functions of ops (plan.h): they refuse what they cannot say
// to a kernel by gpu_plan_refuse, TAPML_UNIMPLEMENTED. That is their only failure; results are
// written on TAPML_OK. The others are pure. Tensors are borrowed for the call, and nothing looks at
// their buffers.
#ifndef TAPML_GPU_VIEW_H
#define TAPML_GPU_VIEW_H

#include <tapml/gpu/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// The rows of a tensor (VIEW in k_view.h of the dialect): there are `rows` of `width` elements, and
// row r begins at at + (r / n) * s0 + (r % n) * s1.
struct gpu_view {
    uint32_t at, n, s0, s1;
    uint32_t rows, width;
};

// For the parameters of a kernel: `VIEW(x)` in the kernel is `GPU_VIEW(x, view, lanes)` here.
// `lanes` is 4 with K_V_X4, where kernels count four elements at a time, widths too; else 1.
#define GPU_VIEW(name, view, lanes)                                                                \
    .name##_at = (view).at / (lanes), .name##_n = (view).n, .name##_s0 = (view).s0 / (lanes),      \
    .name##_s1 = (view).s1 / (lanes)

// Converts an activation to a view. Refuses a tensor unless its type is f32, f16 or i32, it has an
// axis and no encoding, its last axis is contiguous, the other axes have at most two strides after
// contiguous axes are merged, and every index is below 2^32. f16 is refused where the device cannot
// store it, and makes the launches of the call those of kernels with K_V_HALF.
tapml_status gpu_view_rows(struct gpu_queue *queue,
                           tapml_call *call,
                           const tapml_tensor *tensor,
                           struct gpu_view *out_view);

// As gpu_view_rows, for a weight: f32, bf16, f16, or block-quantised, with elements counted from
// the tensor's start, or in tiles, with quants counted so.
tapml_status gpu_view_weight(struct gpu_queue *queue,
                             tapml_call *call,
                             const tapml_tensor *tensor,
                             struct gpu_view *out_view);

// The offsets of the spans of a block-quantised weight (BLOCKS in k_view.h), in words of 32 bits;
// zeros if the weight is plain. Of one in tiles also what they hold (k_tiles.h).
struct gpu_blocks {
    uint32_t quants, highs, scales, mins;
    uint32_t form, across;
};

// Returns the offsets for a tensor that gpu_view_weight has accepted.
struct gpu_blocks gpu_view_blocks(const tapml_tensor *weight);

// For the parameters of a kernel: `BLOCKS(w)` in the kernel is `GPU_BLOCKS(w, blocks)` here.
#define GPU_BLOCKS(name, blocks)                                                                   \
    .name##_quants = (blocks).quants, .name##_highs = (blocks).highs,                              \
    .name##_scales = (blocks).scales, .name##_mins = (blocks).mins, .name##_form = (blocks).form,  \
    .name##_across = (blocks).across

// As gpu_view_rows, for a state, which may be in blocks of TAPML_ENCODING_Q8_ROWS: then values are
// counted from its start, at 0.
tapml_status gpu_view_state_rows(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const tapml_tensor *state,
                                 struct gpu_view *out_view);

// Returns the word of its buffer with which a state in blocks begins.
uint32_t gpu_view_state_word(const tapml_tensor *state);

// Returns the bits of a kernel's variant for a state beside activations of `dtype`, a TAPML_F32 or
// TAPML_F16. Refuses a state of f32 beside activations of f16. Called when all views of the call
// are made.
tapml_status gpu_view_state(struct gpu_queue *queue,
                            tapml_call *call,
                            uint32_t dtype,
                            const tapml_tensor *state,
                            uint32_t *out_variant);

// Whether rows can be read four elements at a time.
int gpu_view_is_x4(const struct gpu_view *view);

// Returns the stride of an axis, in elements, even if the tensor has no explicit strides.
int64_t gpu_view_stride(const tapml_tensor *tensor, uint32_t axis);

// Returns the distance of rows of a matrix that gpu_view_weight has accepted, in elements.
uint32_t gpu_view_weight_stride(const tapml_tensor *weight);

// K_W_* of k_view.h: the type of a weight as a number, and as the variant of a kernel.
enum {
    GPU_WEIGHT_NONE,
    GPU_WEIGHT_F32,
    GPU_WEIGHT_BF16,
    GPU_WEIGHT_F16,
    GPU_WEIGHT_Q8,
    GPU_WEIGHT_Q4,
    GPU_WEIGHT_Q5,
    GPU_WEIGHT_Q4_K,
    GPU_WEIGHT_Q5_K,
    GPU_WEIGHT_Q6_K,
    GPU_WEIGHT_TILES,
    GPU_WEIGHT_COUNT
};

// Return the type of a weight, GPU_WEIGHT_NONE for NULL and unsupported types, and the bits of a
// kernel's variant for it.
uint32_t gpu_view_weight_kind(const tapml_tensor *weight);
uint32_t gpu_view_weight_variant(const tapml_tensor *weight);

// Returns the number of values that share a scale in a weight of such a kind; 1 where it is plain
// or in tiles, whose kernels are those of sdk/gpu alone.
uint32_t gpu_view_group_values(uint32_t weight_kind);

// Tensors of one shape, element by element (k_elements.h): axes that are contiguous in all of them
// are merged, innermost first. gpu_plan_elements makes parameters of it.
struct gpu_elements {
    uint32_t axes, lanes;
    uint32_t count;             // Of lane groups.
    uint32_t n[TAPML_MAX_RANK]; // In lane groups on axis 0.
    struct {
        uint32_t at, stride[TAPML_MAX_RANK];
    } tensor[GPU_ELEMENTS_TENSORS_MAX];
};

// Computes the merged axes of 1 .. GPU_ELEMENTS_TENSORS_MAX tensors of f32, f16 or i32, and whether
// they can be read four elements at a time. Refuses encodings, negative strides, and indices of
// 2^32 and above.
tapml_status gpu_view_elements(struct gpu_queue *queue,
                               tapml_call *call,
                               const tapml_tensor *const *tensors,
                               uint32_t count,
                               struct gpu_elements *out_elements);

#ifdef __cplusplus
}
#endif

#endif
