// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu_notebook.h"
#include "harness/scratch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static const char text[] = "// tapml-op: rms_norm\n"
                           "// tapml-entry: mine\n"
                           "// tapml-arguments: x weight y x.width:i32 eps:f32 7\n"
                           "// tapml-items: 64\n"
                           "// tapml-groups: x.rows y.count/100\n"
                           "__kernel void mine() {}\n";

static struct scratch scratch;
static struct gpu_notebook notebook;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(gpu_foreign, .init = begin, .fini = end);

static tapml_status open_text(const char *kernel, tapml_call *call)
{
    notebook = (struct gpu_notebook){.option = "kernel",
                                     .value = scratch_text(&scratch, "kernel.cl", kernel),
                                     .passing = GPU_PASSES_ARGUMENTS};
    return gpu_notebook_open(&notebook, call);
}

// Where buffers are bound, and what is compiled lies beside the text.
static tapml_status open_bound(const char *kernel, tapml_call *call)
{
    notebook = (struct gpu_notebook){.option = "kernel",
                                     .value = scratch_text(&scratch, "kernel.comp", kernel),
                                     .passing = GPU_PASSES_BINDINGS,
                                     .code_ending = ".spv"};
    return gpu_notebook_open(&notebook, call);
}

static const tapml_op_impl *only_op(void)
{
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;
    tapml_call call = {0};

    cr_assert_eq(notebook.table->ops(notebook.device, &call, &list, &count), TAPML_OK);
    cr_assert_eq(count, 1u);
    return list[0];
}

Test(gpu_foreign, a_call_is_a_launch_with_its_own_arguments)
{
    const int64_t shape[] = {3, 128};
    tapml_call call = {0};

    cr_assert_eq(open_text(text, &call), TAPML_OK, "%s", call.message);
    cr_expect_str_eq(only_op()->op->name, "tapml.rms_norm");
    tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F32, 2, shape);
    tapml_tensor y = x;

    y.offset = 4096;
    cr_assert_eq(((tapml_rms_norm_fn)only_op()->fn)(notebook.queue, &call, &x, NULL, 0.5, 0, &y),
                 TAPML_OK, "%s", call.message);
    cr_expect_str_eq(notebook.kernel->name, "mine");
    cr_expect_str_eq((const char *)notebook.kernel->code, text);
    cr_expect_eq(notebook.tune[0], 64u);
    cr_expect_eq(notebook.groups[0], 3u);
    cr_expect_eq(notebook.groups[1], 4u, "384 in hundreds");
    cr_expect_eq(notebook.groups[2], 1u);
    cr_assert_eq(notebook.argument_count, 6u);
    cr_expect_not_null(notebook.arguments[0].buffer);
    cr_expect_null(notebook.arguments[1].buffer, "no weight");
    cr_expect_eq(notebook.arguments[2].offset, 4096u);
    cr_expect_eq(notebook.arguments[3].number.i32, 128);
    cr_expect_eq(notebook.arguments[4].number.f32, 0.5F);
    cr_expect_eq(notebook.arguments[5].number.i64, 7);
    cr_expect_eq(notebook.arguments[5].bytes, 8u);
    gpu_notebook_close(&notebook);
    cr_expect_eq(notebook.live_bytes, 0u);
}

Test(gpu_foreign, numbers_are_a_block_where_buffers_are_bound)
{
    const int64_t shape[] = {3, 128};
    tapml_call call = {0};
    int32_t width = 0;
    float eps = 0;
    int64_t seven = 0;

    (void)scratch_text(&scratch, "kernel.comp.spv", "words");
    cr_assert_eq(open_bound(text, &call), TAPML_OK, "%s", call.message);
    tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F32, 2, shape);
    tapml_tensor y = x;

    y.offset = 4096;
    cr_assert_eq(((tapml_rms_norm_fn)only_op()->fn)(notebook.queue, &call, &x, NULL, 0.5, 0, &y),
                 TAPML_OK, "%s", call.message);
    cr_expect_eq(notebook.argument_count, 0u);
    cr_assert_eq(notebook.kernel->n_binding, 3u);
    cr_expect_eq(notebook.kernel->size, 5u);
    cr_expect_arr_eq(notebook.kernel->code, "words", 5);
    cr_expect_eq(notebook.offsets[0], 0u);
    cr_expect_eq(notebook.offsets[2], 4096u);
    cr_assert_eq(notebook.kernel->params_size, 16u, "4 + 4 + 8 bytes");
    memcpy(&width, notebook.params, sizeof(width));
    memcpy(&eps, notebook.params + 4, sizeof(eps));
    memcpy(&seven, notebook.params + 8, sizeof(seven));
    cr_expect_eq(width, 128);
    cr_expect_eq(eps, 0.5F);
    cr_expect_eq(seven, 7);
    y.offset = 4; // Which no device binds at.
    cr_assert_eq(((tapml_rms_norm_fn)only_op()->fn)(notebook.queue, &call, &x, NULL, 0.5, 0, &y),
                 TAPML_UNIMPLEMENTED);
    cr_expect_not_null(strstr(call.message, "'y' begins at byte 4 of its buffer"), "%s",
                       call.message);
    gpu_notebook_close(&notebook);
    cr_expect_eq(notebook.live_bytes, 0u);
}

// A text is compiled once, before anything is called.
Test(gpu_foreign, what_does_not_compile_is_told_at_the_opening)
{
    tapml_call call = {0};

    cr_assert_eq(open_text(text, &call), TAPML_OK, "%s", call.message);
    cr_expect_eq(notebook.pipeline_count, 1u);
    gpu_notebook_close(&notebook);
    notebook = (struct gpu_notebook){.option = "kernel",
                                     .value = scratch_text(&scratch, "kernel.cl", text),
                                     .passing = GPU_PASSES_ARGUMENTS,
                                     .compiler_error = "line 6: what is this"};
    cr_expect_eq(gpu_notebook_open(&notebook, &call), TAPML_INVALID);
    cr_expect_str_eq(call.message, "line 6: what is this");
    gpu_notebook_close(&notebook);
    cr_expect_eq(notebook.live_bytes, 0u);
}

// What is put before it does not count.
Test(gpu_foreign, the_lines_of_a_text_stay_its_lines)
{
    static const struct k_tune tune[] = {{"WG_X", 0, 64}, {"WG_Y", 1, 1}};
    const struct k_kernel kernel = {
        .n_tune = 2, .tune = tune, .code = (const unsigned char *)text, .size = sizeof(text)};
    const uint32_t values[] = {64, 1};
    tapml_call call = {0};
    struct gpu_text made = {NULL, 0};

    cr_assert_eq(open_text(text, &call), TAPML_OK, "%s", call.message);
    const struct gpu_host host = {&notebook.host, &notebook.core, "notebook"};

    cr_assert_eq(gpu_kernel_text(&host, &call, &kernel, values, GPU_TUNE_DEFINE, &made), TAPML_OK);
    cr_expect_not_null(strstr(made.data, "#define WG_Y 1u\n#line 1\n// tapml-op: rms_norm\n"), "%s",
                       made.data);
    gpu_free(&host, made.data, made.size);
    cr_assert_eq(gpu_kernel_text(&host, &call, &kernel, values, GPU_TUNE_CONST, &made), TAPML_OK);
    cr_expect_eq(strncmp(made.data, text, sizeof(text) - 1), 0, "%s", made.data);
    gpu_free(&host, made.data, made.size);
    gpu_notebook_close(&notebook);
}

Test(gpu_foreign, what_is_compiled_must_be_there)
{
    tapml_call call = {0};

    cr_expect_eq(open_bound(text, &call), TAPML_INVALID);
    cr_expect_not_null(strstr(call.message, "kernel.comp.spv: No such file"), "%s", call.message);
    gpu_notebook_close(&notebook);
}

Test(gpu_foreign, other_ops_and_calls_are_refused)
{
    const int64_t shape[] = {3, 128};
    tapml_call call = {0};
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    tapml_value args[5] = {{.kind = TAPML_V_NONE}};

    cr_assert_eq(open_text(text, &call), TAPML_OK, "%s", call.message);
    tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F16, 2, shape);

    args[TAPML_RMS_NORM_X] = (tapml_value){.kind = TAPML_P_TENSOR_IN, .u.p = &x};
    args[TAPML_RMS_NORM_EPS].kind = args[TAPML_RMS_NORM_OFFSET].kind = TAPML_P_F64;
    args[TAPML_RMS_NORM_Y] = (tapml_value){.kind = TAPML_P_TENSOR_OUT, .u.p = &x};
    cr_assert_eq(
        notebook.table->supports(notebook.device, &call, &tapml_rms_norm, args, 5, &answer),
        TAPML_OK);
    cr_expect_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_expect_str_eq(answer.reason, "'x' is f16, the function takes f32");
    cr_assert_eq(notebook.table->supports(notebook.device, &call, &tapml_add, args, 3, &answer),
                 TAPML_OK);
    cr_expect_eq(answer.grade, TAPML_SUPPORT_NO);
    gpu_notebook_close(&notebook);
}

Test(gpu_foreign, what_a_text_lacks_is_said)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "'tapml-op:' is missing"},
        {"// tapml-op: silly\n", "no op 'silly'"},
        {"// tapml-op: silu\n", "'tapml-arguments:' is missing"},
        {"// tapml-op: silu\n// tapml-arguments: x z\n", "no parameter 'z'"},
        {"// tapml-op: silu\n// tapml-arguments: x y\n", "'tapml-groups:' is missing"},
        {"// tapml-op: silu\n// tapml-arguments: x y\n// tapml-groups: 1\n",
         "'tapml-entry:' is missing"},
        {"// tapml-op: silu\n// tapml-arguments: x y\n// tapml-groups: 1 1 1 1\n",
         "more than 3 axes"},
        {"// tapml-op: silu\n// tapml-arguments: x y\n// tapml-groups: 1\n// tapml-entry: a b\n",
         "'tapml-entry:' is missing"},
        {"// tapml-op: silu\n// tapml-arguments: x y\n// tapml-items: 100000\n",
         "tapml-items is '100000', expected 1 .. 256"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        tapml_call call = {0};

        cr_expect_eq(open_text(wrong[i].text, &call), TAPML_INVALID, "%zu", i);
        cr_expect_not_null(strstr(call.message, wrong[i].message), "%s", call.message);
        gpu_notebook_close(&notebook);
    }
}
