// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "op.h"

#include "kparams.h"
#include "ops.h"

#include <tapml/gpu/view.h>

enum { ITEMS = 64 };

// With the kernels that kexpand has made of sample.k, in kernels.c, this is `extern const struct
// k_kernel own_kernels[];`, for a driver that compiles them. Without them the op is refused.
static const struct k_kernel no_kernels[] = {{.name = NULL}};

// The launch of sample.opdef: <tapml/gpu/plan.h> says what such a function may do, and that
// `supports` asks it, too.
static tapml_status compute(ORG_EXAMPLE_SAMPLE_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    const uint32_t lanes = gpu_view_is_x4(&xv) && gpu_view_is_x4(&yv) ? 4 : 1;
    const uint32_t items = gpu_plan_items(self, ITEMS), width = xv.width / lanes;
    const struct k_sample_params params = {
        GPU_VIEW(x, xv, lanes),   GPU_VIEW(y, yv, lanes),  .width = width,
        .count = xv.rows * width, .factor = (float)factor,
    };

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){
                               .kernel = "sample",
                               .is_own = 1,
                               .variant = lanes == 4 ? K_V_X4 : K_V_BASE,
                               .tune = {[K_SAMPLE_TUNE_WG_X] = items},
                               .tensors = {[K_SAMPLE_X] = x, [K_SAMPLE_Y] = y},
                               .params = &params,
                               .groups = ((uint64_t)params.count + items - 1) / items,
                           });
}

static const tapml_op_impl impl = TAPML_IMPL(org_example_sample, compute);
static const tapml_op_impl *const ops[] = {&impl, NULL};

const struct gpu_own op_own = {
    .kernels = no_kernels,
    .ops = ops,
    .apply = org_example_ops_apply,
};
