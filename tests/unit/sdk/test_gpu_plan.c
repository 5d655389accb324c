// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu_notebook.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static tapml_fn op_of(struct gpu_notebook *notebook, const tapml_op *op)
{
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;
    tapml_call call = {0};

    cr_assert_eq(notebook->table->ops(notebook->device, &call, &list, &count), TAPML_OK);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i]->op == op || strcmp(list[i]->op->name, op->name) == 0) {
            return list[i]->fn;
        }
    }
    cr_assert_fail("no '%s'", op->name);
    return NULL;
}

static void open_notebook(struct gpu_notebook *notebook)
{
    tapml_call call = {0};

    cr_assert_eq(gpu_notebook_open(notebook, &call), TAPML_OK, "%s", call.message);
}

// Calls rms_norm over [rows, width] with a weight, all at element `at`.
static tapml_status norm(struct gpu_notebook *notebook,
                         int64_t rows,
                         int64_t width,
                         uint32_t dtype,
                         uint64_t at,
                         tapml_call *call)
{
    const int64_t shape[] = {rows, width};
    tapml_tensor x = gpu_notebook_tensor(notebook, TAPML_F32, 2, shape);
    tapml_tensor w = gpu_notebook_tensor(notebook, dtype, 1, shape + 1);

    x.offset = at * sizeof(float);
    w.offset = at * TAPML_DT_BYTES(dtype);
    return ((tapml_rms_norm_fn)op_of(notebook, &tapml_rms_norm))(notebook->queue, call, &x, &w,
                                                                 1e-5, 0, &x);
}

Test(gpu_plan, four_at_a_time_where_all_views_allow_it)
{
    struct gpu_notebook notebook = {.ticket = 0};
    tapml_call call = {0};

    open_notebook(&notebook);
    cr_assert_eq(norm(&notebook, 2, 128, TAPML_F32, 0, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_X4);
    cr_expect_eq(notebook.tune[0], 32); // A lane group for each item.
    cr_assert_eq(norm(&notebook, 2, 128, TAPML_F32, 1, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_BASE);
    cr_assert_eq(norm(&notebook, 2, 127, TAPML_BF16, 0, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_BF16);
    cr_assert_eq(norm(&notebook, 2, 124, TAPML_F16, 4, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_F16 | K_V_X4);
    gpu_notebook_close(&notebook);
}

static tapml_status add_half(struct gpu_notebook *notebook, uint64_t at, tapml_call *call)
{
    const int64_t shape[] = {8};
    tapml_tensor x = gpu_notebook_tensor(notebook, TAPML_F16, 1, shape), y = x;

    x.offset = at * 2;
    return ((tapml_add_fn)op_of(notebook, &tapml_add))(notebook->queue, call, &x, &x, &y);
}

Test(gpu_plan, f16_where_activations_are_f16_and_the_device_stores_it)
{
    struct gpu_notebook notebook = {.limits = {256, 16384, 65535, 0, 0, GPU_FEATURE_F16}};
    tapml_call call = {0};

    open_notebook(&notebook);
    cr_assert_eq(add_half(&notebook, 4, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_HALF | K_V_X4);
    cr_assert_eq(add_half(&notebook, 1, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_HALF);
    cr_assert_eq(norm(&notebook, 2, 128, TAPML_F16, 0, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_F16 | K_V_X4); // The weight alone is f16.
    gpu_notebook_close(&notebook);

    struct gpu_notebook wide = {.ticket = 0};

    open_notebook(&wide);
    cr_assert_eq(add_half(&wide, 0, &call), TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(call.message, "activations are f32, this one is f16, which the device cannot "
                                   "store");
    gpu_notebook_close(&wide);
}

Test(gpu_plan, subgroups_where_a_workgroup_holds_whole_ones)
{
    struct gpu_notebook notebook = {.limits = {256, 16384, 65535, 32, 32, GPU_FEATURE_SUBGROUP}};
    tapml_call call = {0};

    open_notebook(&notebook);
    cr_assert_eq(norm(&notebook, 2, 128, TAPML_F32, 0, &call), TAPML_OK);
    cr_expect_eq(notebook.kernel->variant, K_V_X4 | K_V_SUBGROUP);
    gpu_notebook_close(&notebook);

    struct gpu_notebook wide = {.limits = {256, 16384, 65535, 32, 64, GPU_FEATURE_SUBGROUP}};

    open_notebook(&wide);
    cr_assert_eq(norm(&wide, 2, 128, TAPML_F32, 0, &call), TAPML_OK);
    cr_expect_eq(wide.kernel->variant, K_V_X4); // 32 items are half a subgroup.
    cr_assert_eq(norm(&wide, 2, 1024, TAPML_F32, 0, &call), TAPML_OK);
    cr_expect_eq(wide.kernel->variant, K_V_X4 | K_V_SUBGROUP);
    gpu_notebook_close(&wide);
}

Test(gpu_plan, long_grids_fold)
{
    struct gpu_notebook notebook = {.limits = {256, 16384, 100, 0, 0, 0}};
    tapml_call call = {0};

    open_notebook(&notebook);
    for (int64_t rows = 1; rows < 10000; rows = rows * 3 + 1) {
        cr_assert_eq(norm(&notebook, rows, 4, TAPML_F32, 0, &call), TAPML_OK);
        const uint64_t groups = (uint64_t)notebook.groups[0] * notebook.groups[1];

        cr_expect(notebook.groups[0] <= 100 && notebook.groups[1] <= 100);
        cr_expect(groups >= (uint64_t)rows && groups - (uint64_t)rows < notebook.groups[1]);
    }
    cr_expect_eq(norm(&notebook, 10001, 4, TAPML_F32, 0, &call), TAPML_UNIMPLEMENTED);
    gpu_notebook_close(&notebook);
}

Test(gpu_plan, absent_tensors_are_bound_to_something)
{
    struct gpu_notebook notebook = {.ticket = 0};
    const int64_t shape[] = {2, 8};
    tapml_call call = {0};

    open_notebook(&notebook);
    const tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F32, 2, shape);

    cr_assert_eq(((tapml_rms_norm_fn)op_of(&notebook, &tapml_rms_norm))(notebook.queue, &call, &x,
                                                                        NULL, 0, 0, &x),
                 TAPML_OK);
    cr_expect_eq(notebook.buffer_bytes[0], 1 << 20);
    cr_expect_eq(notebook.buffer_bytes[1], 16);
    gpu_notebook_close(&notebook);
}

Test(gpu_plan, limits_are_those_of_the_driver)
{
    struct gpu_notebook with = {.limits = {512, 20000, 70000, 0, 0, GPU_FEATURE_F16}};
    struct gpu_notebook without = {.ticket = 0};
    const tapml_limits *limits = NULL;

    open_notebook(&with);
    limits = with.device->vt->interface_of(with.device, TAPML_LIMITS);
    cr_assert(TAPML_HAS(tapml_limits, limits, half));
    cr_expect_eq(limits->bindings, 9);
    cr_expect_eq(limits->align, 64);
    cr_expect_eq(limits->group_items, 512);
    cr_expect_eq(limits->shared_bytes, 20000);
    cr_expect_eq(limits->grid, 70000);
    cr_expect_eq(limits->half, TAPML_LIMITS_HALF_STORAGE);
    gpu_notebook_close(&with);
    open_notebook(&without);
    limits = without.device->vt->interface_of(without.device, TAPML_LIMITS);
    cr_expect_eq(limits->half, TAPML_LIMITS_HALF_NONE);
    gpu_notebook_close(&without);
}

Test(gpu_plan, pipelines_are_made_once)
{
    struct gpu_notebook notebook = {.ticket = 0};
    const tapml_counters *counters = NULL;
    tapml_call call = {0};

    open_notebook(&notebook);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(norm(&notebook, 3, 128, TAPML_F32, 0, &call), TAPML_OK);
    }
    cr_expect_eq(notebook.pipeline_count, 1);
    cr_assert_eq(norm(&notebook, 3, 1024, TAPML_F32, 0, &call), TAPML_OK); // A larger workgroup.
    cr_expect_eq(notebook.pipeline_count, 2);
    counters = notebook.queue->vt->interface_of(notebook.queue, TAPML_COUNTERS);
    cr_assert_not_null(counters);
    cr_expect_eq(counters->launches(notebook.queue), 6);
    cr_expect_eq(notebook.number, 6);
    gpu_notebook_close(&notebook);
}

// The one set of checks: `supports` says what the call would, without a launch.
Test(gpu_plan, refusals)
{
    struct gpu_notebook notebook = {.ticket = 0};
    const int64_t shape[] = {2, 2, 2, 4}, stride[] = {400, 90, 20, 1};
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    tapml_call call = {0};

    open_notebook(&notebook);
    tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F32, 4, shape);
    const tapml_value values[] = {{.u.p = &x}, {.u.p = NULL}, {.u.d = 0}, {.u.d = 0}, {.u.p = &x}};

    x.stride = stride;
    cr_assert_eq(
        notebook.table->supports(notebook.device, &call, &tapml_rms_norm, values, 5, &answer),
        TAPML_OK);
    cr_expect_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_expect_str_eq(answer.reason, "3 outer strides, kernels have 2");
    cr_expect_eq(((tapml_rms_norm_fn)op_of(&notebook, &tapml_rms_norm))(notebook.queue, &call, &x,
                                                                        NULL, 0, 0, &x),
                 TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(call.message, answer.reason);
    cr_expect_eq(notebook.launch_count, 0);

    const tapml_encoding encoding = {.hdr = TAPML_HDR(tapml_encoding), .id = "gguf.q4_0/1"};

    x.stride = NULL;
    x.encoding = &encoding;
    cr_assert_eq(
        notebook.table->supports(notebook.device, &call, &tapml_rms_norm, values, 5, &answer),
        TAPML_OK);
    cr_expect_neq(strstr(answer.reason, "gguf.q4_0/1"), NULL);
    gpu_notebook_close(&notebook);
}

// A tensor behind 2^32 elements, or that long, is refused and never wraps around.
Test(gpu_plan, indices_have_32_bits)
{
    struct gpu_notebook notebook = {.ticket = 0};
    static const int64_t shapes[][2] = {
        {1, INT64_C(1) << 33}, {INT64_C(1) << 33, 1}, {INT64_C(1) << 20, INT64_C(1) << 20}};
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    tapml_call call = {0};

    open_notebook(&notebook);
    for (int i = 0; i < 4; i++) {
        const int64_t small[] = {1, 4};
        tapml_tensor x = {.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = TAPML_F32,
                          .rank = 2,
                          .shape = i < 3 ? shapes[i] : small,
                          .offset = i < 3 ? 0 : UINT64_C(1) << 34};
        const tapml_value norm_values[] = {
            {.u.p = &x}, {.u.p = NULL}, {.u.d = 0}, {.u.d = 0}, {.u.p = &x}};
        const tapml_value silu_values[] = {{.u.p = &x}, {.u.p = &x}};

        cr_assert_eq(notebook.table->supports(notebook.device, &call, &tapml_rms_norm, norm_values,
                                              5, &answer),
                     TAPML_OK);
        cr_expect_eq(answer.grade, TAPML_SUPPORT_NO, "rows, %d", i);
        cr_assert_eq(
            notebook.table->supports(notebook.device, &call, &tapml_silu, silu_values, 2, &answer),
            TAPML_OK);
        cr_expect_eq(answer.grade, TAPML_SUPPORT_NO, "elements, %d", i);
    }
    gpu_notebook_close(&notebook);
}

// A failure of queued work comes out of the wait, and answers everything from then on.
Test(gpu_plan, failures_stay)
{
    struct gpu_notebook notebook = {.ticket = 0};
    tapml_object *timeline = NULL;
    tapml_call call = {0};

    open_notebook(&notebook);
    cr_assert_eq(notebook.table->timeline_new(notebook.device, &call, 0, &timeline), TAPML_OK);
    cr_assert_eq(norm(&notebook, 2, 8, TAPML_F32, 0, &call), TAPML_OK);
    cr_assert_eq(notebook.table->queue_signal(notebook.queue, &call, (tapml_point){timeline, 1}),
                 TAPML_OK);
    notebook.wait_status = TAPML_DEVICE_LOST;
    cr_expect_eq(notebook.table->timeline_wait(timeline, &call, 1, 0), TAPML_DEVICE_LOST);
    notebook.wait_status = TAPML_OK;
    cr_expect_eq(norm(&notebook, 2, 8, TAPML_F32, 0, &call), TAPML_DEVICE_LOST);
    cr_expect_eq(notebook.table->timeline_wait(timeline, &call, 1, 0), TAPML_DEVICE_LOST);
    cr_expect_eq(notebook.table->queue_read(notebook.queue, &call, notebook.buffer, 0, &call, 4),
                 TAPML_DEVICE_LOST);
    cr_expect_eq(notebook.launch_count, 1);
    timeline->vt->release(timeline);
    gpu_notebook_close(&notebook);
}

// Another queue works where the driver can begin anew, and the old one with it.
Test(gpu_plan, another_queue_begins_anew)
{
    struct gpu_notebook notebook = {.ticket = 0};
    tapml_object *timeline = NULL, *queue = NULL;
    tapml_call call = {0};

    open_notebook(&notebook);
    const tapml_backend *table = notebook.table;
    cr_assert_eq(table->timeline_new(notebook.device, &call, 0, &timeline), TAPML_OK);
    for (int i = 0; i < 2; i++) {
        const uint64_t value = (uint64_t)i + 1;

        cr_assert_eq(norm(&notebook, 2, 8, TAPML_F32, 0, &call), TAPML_OK);
        cr_assert_eq(table->queue_signal(notebook.queue, &call, (tapml_point){timeline, value}),
                     TAPML_OK);
        notebook.wait_status = TAPML_INTERNAL;
        cr_expect_eq(table->timeline_wait(timeline, &call, value, 0), TAPML_INTERNAL);
        notebook.wait_status = TAPML_OK;
        cr_expect_eq(norm(&notebook, 2, 8, TAPML_F32, 0, &call), TAPML_INTERNAL);
        notebook.restart_status = i == 0 ? TAPML_OK : TAPML_DEVICE_LOST;
        cr_expect_eq(table->queue_new(notebook.device, &call, &queue), notebook.restart_status);
        if (i == 0) {
            queue->vt->release(queue);
        }
    }
    cr_expect_eq(notebook.restart_count, 2);
    cr_expect_eq(notebook.launch_count, 2);
    timeline->vt->release(timeline);
    gpu_notebook_close(&notebook);
}

// A device is one stream: its own points are in order, those of another device are not its own.
Test(gpu_plan, queues_wait_for_points_of_their_device)
{
    struct gpu_notebook notebook = {.ticket = 0}, other = {.ticket = 0};
    tapml_object *timeline = NULL;
    tapml_call call = {0};

    open_notebook(&notebook);
    open_notebook(&other);
    const tapml_backend *table = notebook.table;
    cr_assert_eq(table->timeline_new(notebook.device, &call, 0, &timeline), TAPML_OK);
    const tapml_point point = {timeline, 1};
    cr_assert_eq(table->queue_signal(notebook.queue, &call, point), TAPML_OK);
    cr_expect_eq(table->queue_wait(notebook.queue, &call, point), TAPML_OK);
    cr_expect_eq(table->queue_wait(other.queue, &call, point), TAPML_UNIMPLEMENTED);
    timeline->vt->release(timeline);
    gpu_notebook_close(&other);
    gpu_notebook_close(&notebook);
}

Test(gpu_plan, synchronous_launches_blame_their_call)
{
    struct gpu_notebook notebook = {.option = "synchronous", .value = "1"};
    tapml_call call = {0};

    open_notebook(&notebook);
    cr_assert_eq(norm(&notebook, 2, 8, TAPML_F32, 0, &call), TAPML_OK);
    cr_assert_eq(norm(&notebook, 2, 8, TAPML_F32, 0, &call), TAPML_OK);
    notebook.wait_status = TAPML_INTERNAL;
    cr_expect_eq(norm(&notebook, 2, 8, TAPML_F32, 0, &call), TAPML_INTERNAL);
    cr_expect_eq(call.blamed, 3);
    gpu_notebook_close(&notebook);
}

Test(gpu_plan, options_are_checked)
{
    static const char *const wrong[][2] = {{"tile", "huge"}, {"synchronous", "yes"}};

    for (int i = 0; i < 2; i++) {
        struct gpu_notebook notebook = {.option = wrong[i][0], .value = wrong[i][1]};
        tapml_call call = {0};

        cr_expect_eq(gpu_notebook_open(&notebook, &call), TAPML_INVALID);
        cr_expect_neq(strstr(call.message, wrong[i][1]), NULL, "%s", call.message);
        gpu_notebook_close(&notebook);
    }
}

// Small tiles: one item sums a row by itself; lanes: one subgroup does. A device whose items run
// one after another has the latter where its subgroups have one size, else the former.
Test(gpu_plan, tiles)
{
    enum { LANES = GPU_FEATURE_SERIAL | GPU_FEATURE_SUBGROUP };
    const struct {
        struct gpu_notebook notebook;
        uint32_t items;
    } cases[] = {
        {{.option = "tile", .value = "small"}, 1},
        {{.limits = {256, 16384, 65535, 0, 0, GPU_FEATURE_SERIAL}}, 1},
        {{.limits = {256, 16384, 65535, 4, 16, LANES}}, 1},
        {{.limits = {256, 16384, 65535, 8, 8, LANES}}, 8},
        {{.limits = {256, 16384, 65535, 8, 8, LANES}, .option = "tile", .value = "small"}, 1},
        {{.limits = {256, 16384, 65535, 8, 8, LANES}, .option = "tile", .value = "large"}, 32},
        {{.limits = {256, 16384, 65535, 64, 64, GPU_FEATURE_SUBGROUP}}, 32},
    };
    tapml_call call = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct gpu_notebook notebook = cases[i].notebook;

        open_notebook(&notebook);
        cr_assert_eq(norm(&notebook, 2, 128, TAPML_F32, 0, &call), TAPML_OK);
        cr_expect_eq(notebook.tune[0], cases[i].items, "case %zu: %u items", i, notebook.tune[0]);
        gpu_notebook_close(&notebook);
    }
}

Test(gpu_plan, lanes_need_subgroups_of_one_size)
{
    static const struct gpu_limits limits[] = {{256, 16384, 65535, 8, 8, GPU_FEATURE_SERIAL},
                                               {256, 16384, 65535, 4, 16, GPU_FEATURE_SUBGROUP}};

    for (int i = 0; i < 2; i++) {
        struct gpu_notebook notebook = {.limits = limits[i], .option = "tile", .value = "lanes"};
        tapml_call call = {0};

        cr_expect_eq(gpu_notebook_open(&notebook, &call), TAPML_INVALID);
        cr_expect_neq(strstr(call.message, "'lanes'"), NULL, "%s", call.message);
        gpu_notebook_close(&notebook);
    }
}

// Heads that share rows of the state are answered together; what no registers hold by a workgroup.
Test(gpu_plan, attention_by_lanes_where_a_head_fits)
{
    enum { HEADS = 8, KV_HEADS = 2, ROWS = 16 };
    static const struct {
        int64_t tokens, width;
        const char *kernel;
        uint32_t queries, groups;
    } cases[] = {
        {1, 64, "attention_lanes", 4, 2},  {5, 64, "attention_lanes", 8, 6},
        {5, 63, "attention_lanes", 4, 10}, {5, 1024, "attention_lanes", 1, 40},
        {5, 1028, "attention", 64, 40},
    };
    struct gpu_notebook notebook = {
        .limits = {256, 16384, 65535, 8, 8, GPU_FEATURE_SERIAL | GPU_FEATURE_SUBGROUP}};
    tapml_call call = {0};

    open_notebook(&notebook);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const int64_t q_shape[] = {cases[i].tokens, HEADS, cases[i].width};
        const int64_t state_shape[] = {ROWS, KV_HEADS, cases[i].width};
        const tapml_tensor q = gpu_notebook_tensor(&notebook, TAPML_F32, 3, q_shape);
        const tapml_tensor state = gpu_notebook_tensor(&notebook, TAPML_F32, 3, state_shape);
        const tapml_status status = ((tapml_attention_fn)op_of(&notebook, &tapml_attention))(
            notebook.queue, &call, &q, &state, &state, NULL, NULL, NULL, 3, 0.125, 1, 0, 0, 0, 0,
            &q);

        cr_assert_eq(status, TAPML_OK, "%s", call.message);
        cr_expect_str_eq(notebook.kernel->name, cases[i].kernel);
        cr_expect_eq(notebook.tune[3], cases[i].queries, "case %zu: %u", i, notebook.tune[3]);
        cr_expect_eq(notebook.groups[0], cases[i].groups, "case %zu: %u", i, notebook.groups[0]);
    }
    gpu_notebook_close(&notebook);
}

// A kernel for every type of weight, in both directions, for few tokens and many, on the smallest
// device.
Test(gpu_plan, linear_has_all_its_variants)
{
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_BF16, TAPML_F16};
    static const char *const tiles[] = {"small", "lanes", "large"};

    for (int tile = 0; tile < 3; tile++) {
        struct gpu_notebook notebook = {.limits = {128, 16384, 65535, 8, 8, GPU_FEATURE_SUBGROUP},
                                        .option = "tile",
                                        .value = tiles[tile]};
        tapml_call call = {0};

        open_notebook(&notebook);
        for (int i = 0; i < 3 * 2 * 2 * 2; i++) {
            const int64_t tokens = i / 3 % 2 != 0 ? 40 : 2, width = i / 6 % 2 != 0 ? 36 : 35;
            const int64_t x_shape[] = {tokens, width}, w_shape[] = {width, width};
            const tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F32, 2, x_shape);
            const tapml_tensor w = gpu_notebook_tensor(&notebook, dtypes[i % 3], 2, w_shape);
            const tapml_status status = ((tapml_linear_fn)op_of(&notebook, &tapml_linear))(
                notebook.queue, &call, &x, &w, NULL, i / 12, &x);

            cr_expect_eq(status, TAPML_OK, "%s", call.message);
            cr_expect(notebook.tune[0] <= 128);
        }
        gpu_notebook_close(&notebook);
    }
}
