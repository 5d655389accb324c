// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu_notebook.h"
#include "own_ops.h"

#include <tapml/gpu/view.h>
#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

extern const struct k_kernel opencl_kernels[];

// -- An op of one's own ------------------------------------------------------------------------

static const struct k_tune tune[] = {{"WG_X", 0, 64}, {"WG_Y", 1, 1}, {"WG_Z", 2, 1}};
static const struct k_binding binding[] = {{"x", "f32", 0, K_ACCESS_IN},
                                           {"y", "f32", 1, K_ACCESS_OUT}};
#define KERNEL(name_, variant_, text_)                                                             \
    {                                                                                              \
        .name = (name_), .variant = (variant_), .n_tune = 3, .tune = tune, .n_binding = 2,         \
        .binding = binding, .params_size = 12, .code = (const unsigned char *)(text_),             \
        .size = sizeof(text_)                                                                      \
    }
static const struct k_kernel own_kernels[] = {
    KERNEL("scale", 0, "times"), KERNEL("scale", K_V_HALF, "times in f16"), {.name = NULL}};
static const struct k_kernel changed_kernels[] = {
    KERNEL("scale", 0, "Times"), KERNEL("scale", K_V_HALF, "times in f16"), {.name = NULL}};

static tapml_status scale(ORG_EXAMPLE_SCALE_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct gpu_view xv, yv;

    GPU_TRY(gpu_view_rows(self, call, x, &xv));
    GPU_TRY(gpu_view_rows(self, call, y, &yv));
    const struct {
        uint32_t at, count;
        float factor;
    } params = {xv.at, xv.rows * xv.width, (float)factor};
    const uint32_t items = gpu_plan_items(self, 64);

    return gpu_plan_launch(self, call,
                           &(struct gpu_plan){.kernel = "scale",
                                              .is_own = 1,
                                              .tune = {items},
                                              .tensors = {x, y},
                                              .params = &params,
                                              .groups = (params.count + items - 1) / items});
}

static tapml_status no_scale(TAPML_SCALE_PARAMS)
{
    return gpu_plan_refuse(gpu_plan_begin(queue), call, "not today");
}

static const tapml_op_impl scale_impl = TAPML_IMPL(org_example_scale, scale);
static const tapml_op_impl other_impl = TAPML_IMPL(tapml_scale, no_scale);
static const tapml_op_impl *const own_ops[] = {&scale_impl, NULL};
static const tapml_op_impl *const both_ops[] = {&scale_impl, &other_impl, NULL};
static const struct gpu_own own = {own_kernels, NULL, own_ops, org_example_ops_apply};
static const struct gpu_own changed = {changed_kernels, NULL, own_ops, org_example_ops_apply};
static const struct gpu_own both = {own_kernels, NULL, both_ops, org_example_ops_apply};

static void open_notebook(struct gpu_notebook *notebook)
{
    tapml_call call = {0};

    cr_assert_eq(gpu_notebook_open(notebook, &call), TAPML_OK, "%s", call.message);
}

// What the device lists for an op, or NULL, and how many ops it lists.
static const tapml_op_impl *
listed(struct gpu_notebook *notebook, const tapml_op *op, uint32_t *out_count)
{
    const tapml_op_impl *const *list = NULL, *found = NULL;
    tapml_call call = {0};

    cr_assert_eq(notebook->table->ops(notebook->device, &call, &list, out_count), TAPML_OK);
    for (uint32_t i = 0; i < *out_count; i++) {
        if (strcmp(list[i]->op->name, op->name) == 0) {
            cr_expect_null(found, "'%s' is listed twice", op->name);
            found = list[i];
        }
    }
    return found;
}

static tapml_support
ask(struct gpu_notebook *notebook, const tapml_op *op, const tapml_value *args, uint32_t count)
{
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    tapml_call call = {0};

    cr_assert_eq(notebook->table->supports(notebook->device, &call, op, args, count, &answer),
                 TAPML_OK);
    return answer;
}

// Asks for org.example.scale over `x`.
static tapml_support ask_scale(struct gpu_notebook *notebook, const tapml_tensor *x)
{
    const tapml_tensor *y = x;
    const double factor = 1.5;
    const tapml_value args[] = ORG_EXAMPLE_SCALE_VALUES;

    return ask(notebook, &org_example_scale, args, 3);
}

Test(gpu_own, an_op_is_listed_and_launched)
{
    static const int64_t shape[] = {3, 50};
    struct gpu_notebook notebook = {.own = &own};
    tapml_call call = {0};
    uint32_t count = 0;
    float factor = 0;

    open_notebook(&notebook);
    const tapml_op_impl *impl = listed(&notebook, &org_example_scale, &count);
    const tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F32, 2, shape);

    cr_assert_eq(impl, &scale_impl);
    cr_expect_eq(count, TAPML_OPS_COUNT + 1);
    cr_expect_eq(ask_scale(&notebook, &x).grade, TAPML_SUPPORT_YES);
    cr_expect_eq(notebook.launch_count, 0);
    cr_assert_eq(((org_example_scale_fn)impl->fn)(notebook.queue, &call, &x, 1.5, &x), TAPML_OK,
                 "%s", call.message);
    cr_expect_eq(notebook.kernel, &own_kernels[0]);
    cr_expect_eq(notebook.groups[0], 3); // 150 elements by 64 items.
    cr_expect_eq(notebook.number, 1);
    memcpy(&factor, notebook.params + 2 * sizeof(uint32_t), sizeof(factor));
    cr_expect_eq(factor, 1.5f);
    gpu_notebook_close(&notebook);
}

// The activations of a call choose the form; what the driver lacks is in the answer.
Test(gpu_own, f16_is_a_form_of_the_kernel)
{
    static const int64_t shape[] = {3, 50};
    static const struct k_kernel f32_alone[] = {KERNEL("scale", 0, "times"), {.name = NULL}};
    static const struct gpu_own lacking = {f32_alone, NULL, own_ops, org_example_ops_apply};
    const struct gpu_limits limits = {256, 16384, 65535, 0, 0, GPU_FEATURE_F16};
    struct gpu_notebook full = {.own = &own, .limits = limits};
    struct gpu_notebook half = {.own = &lacking, .limits = limits};
    tapml_call call = {0};

    open_notebook(&full);
    const tapml_tensor x = gpu_notebook_tensor(&full, TAPML_F16, 2, shape);

    cr_expect_eq(ask_scale(&full, &x).grade, TAPML_SUPPORT_YES);
    cr_assert_eq(scale(full.queue, &call, &x, 1.5, &x), TAPML_OK, "%s", call.message);
    cr_expect_eq(full.kernel, &own_kernels[1]);
    gpu_notebook_close(&full);

    open_notebook(&half);
    const tapml_support answer = ask_scale(&half, &x);

    cr_expect_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_expect_str_eq(answer.reason, "the driver has no kernel 'scale', variant 256");
    gpu_notebook_close(&half);
}

Test(gpu_own, an_op_takes_the_place_of_one_of_the_catalogue)
{
    static const int64_t shape[] = {3, 50};
    struct gpu_notebook notebook = {.own = &both};
    uint32_t count = 0;

    open_notebook(&notebook);
    const tapml_tensor tensor = gpu_notebook_tensor(&notebook, TAPML_F32, 2, shape);
    const tapml_tensor *x = &tensor, *y = &tensor;
    const double factor = 2;
    const tapml_value args[] = TAPML_SCALE_VALUES;

    cr_expect_eq(listed(&notebook, &tapml_scale, &count), &other_impl);
    cr_expect_eq(count, TAPML_OPS_COUNT + 1);
    cr_expect_str_eq(ask(&notebook, &tapml_scale, args, 3).reason, "not today");
    gpu_notebook_close(&notebook);
}

static tapml_status
call_nothing(const tapml_op_impl *impl, tapml_object *queue, tapml_call *call, const tapml_value *a)
{
    return TAPML_UNIMPLEMENTED;
}

Test(gpu_own, an_op_that_is_not_called_is_refused)
{
    static const int64_t shape[] = {3, 50};
    static const struct gpu_own dumb = {own_kernels, NULL, own_ops, call_nothing};
    struct gpu_notebook notebook = {.own = &dumb};

    open_notebook(&notebook);
    const tapml_tensor x = gpu_notebook_tensor(&notebook, TAPML_F32, 2, shape);
    const tapml_support answer = ask_scale(&notebook, &x);

    cr_expect_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_expect_str_eq(answer.reason, "the driver has 'org.example.scale' and does not call it");
    gpu_notebook_close(&notebook);
}

// -- A kernel of one's own ---------------------------------------------------------------------

static const struct k_kernel *find_kernel(const char *name, uint32_t variant)
{
    const struct k_kernel *kernel = opencl_kernels;

    while (strcmp(kernel->name, name) != 0 || kernel->variant != variant) {
        kernel++;
    }
    return kernel;
}

// The kernel that rms_norm over rows of `width` launches.
static const struct k_kernel *norm_kernel(struct gpu_notebook *notebook, int64_t width)
{
    const int64_t shape[] = {2, width};
    const tapml_tensor x = gpu_notebook_tensor(notebook, TAPML_F32, 2, shape);
    uint32_t count = 0;
    tapml_call call = {0};
    const tapml_op_impl *impl = listed(notebook, &tapml_rms_norm, &count);

    cr_assert_eq(((tapml_rms_norm_fn)impl->fn)(notebook->queue, &call, &x, NULL, 1e-5, 0, &x),
                 TAPML_OK, "%s", call.message);
    return notebook->kernel;
}

// Variant by variant; and its form with subgroups is not that of the table.
Test(gpu_own, a_kernel_takes_the_place_of_another)
{
    struct k_kernel kernels[] = {*find_kernel("rms_norm", 0), {.name = NULL}};
    const struct gpu_own replaced = {.replacements = kernels};
    const struct gpu_limits limits = {256, 16384, 65535, 32, 32, GPU_FEATURE_SUBGROUP};
    struct gpu_notebook plain = {.limits = limits};
    struct gpu_notebook notebook = {.own = &replaced, .limits = limits};

    open_notebook(&plain);
    cr_expect_eq(norm_kernel(&plain, 35), find_kernel("rms_norm", K_V_SUBGROUP));
    gpu_notebook_close(&plain);
    open_notebook(&notebook);
    cr_expect_eq(norm_kernel(&notebook, 35), &kernels[0]);
    cr_expect_eq(norm_kernel(&notebook, 64), find_kernel("rms_norm", K_V_X4 | K_V_SUBGROUP));
    gpu_notebook_close(&notebook);
}

// -- What no driver can have -------------------------------------------------------------------

static void refuse(const struct gpu_own *wrong, const char *sentence)
{
    struct gpu_notebook notebook = {.own = wrong};
    tapml_call call = {0};

    cr_expect_eq(gpu_notebook_open(&notebook, &call), TAPML_INVALID, "%s", sentence);
    cr_expect_neq(strstr(call.message, sentence), NULL, "'%s' is not in '%s'", sentence,
                  call.message);
    gpu_notebook_close(&notebook);
}

static void refuse_kernel(struct k_kernel kernel, const char *sentence)
{
    const struct k_kernel kernels[] = {kernel, {.name = NULL}};
    const struct gpu_own wrong = {.kernels = kernels};

    refuse(&wrong, sentence);
}

Test(gpu_own, a_kernel_that_is_none_is_refused)
{
    static const struct k_binding swapped[] = {{"x", "f32", 1, K_ACCESS_IN},
                                               {"y", "f32", 0, K_ACCESS_OUT}};
    static const struct k_tune unnamed[] = {{"WG_X", 0, 64}, {"AXES", 1, 1}, {"WG_Z", 2, 1}};
    const struct k_kernel good = own_kernels[0];
    struct k_kernel wrong = good;

    wrong.code = NULL;
    refuse_kernel(wrong, "'scale': it has no code");
    wrong = good;
    wrong.n_binding = K_BINDING_MAX + 1;
    refuse_kernel(wrong, "'scale': it does not bind 1 to 8 buffers");
    wrong = good;
    wrong.binding = swapped;
    refuse_kernel(wrong, "'scale': its bindings are not numbered");
    wrong = good;
    wrong.params_size = K_PARAMS_MAX + 4;
    refuse_kernel(wrong, "'scale': its parameters are not 4 to 128 bytes");
    wrong = good;
    wrong.n_tune = 2;
    refuse_kernel(wrong, "'scale': its constants are not");
    wrong = good;
    wrong.tune = unnamed;
    refuse_kernel(wrong, "'scale': its first constants are not WG_X, WG_Y and WG_Z");
}

Test(gpu_own, a_kernel_that_takes_no_place_is_refused)
{
    struct k_kernel kernels[] = {own_kernels[0], {.name = NULL}};
    const struct gpu_own wrong = {.replacements = kernels};

    refuse(&wrong, "'scale' takes the place of one with other parameters");
    kernels[0].name = "twist";
    refuse(&wrong, "'twist' takes the place of none");
}

Test(gpu_own, two_alike_are_refused)
{
    static const struct k_kernel kernels[] = {
        KERNEL("scale", 8, "a"), KERNEL("scale", 8, "b"), {.name = NULL}};
    static const tapml_op_impl again = TAPML_IMPL(org_example_scale, scale);
    static const tapml_op_impl *const twice[] = {&scale_impl, &again, NULL};
    const struct gpu_own same_kernels = {.kernels = kernels};
    const struct gpu_own same_ops = {NULL, NULL, twice, org_example_ops_apply};

    refuse(&same_kernels, "'scale' has variant 8 twice");
    refuse(&same_ops, "'org.example.scale' version 1 twice");
}

Test(gpu_own, an_op_that_is_none_is_refused)
{
    tapml_op op = org_example_scale;
    tapml_op_impl impl = scale_impl;
    const tapml_op_impl *const ops[] = {&impl, NULL};
    struct gpu_own wrong = {NULL, NULL, ops, NULL};

    refuse(&wrong, "the driver has 'org.example.scale' and no 'apply'");
    wrong.apply = org_example_ops_apply;
    impl.convention = 2;
    refuse(&wrong, "another convention than 1");
    impl = scale_impl;
    impl.op = &op;
    op.name = "tapml.scale";
    refuse(&wrong, "'tapml.scale' version 1 has not the schema of <tapml/ops.h>");
    op.name = "tapml.twist";
    refuse(&wrong, "'tapml.twist' version 1 has not the schema");
}

// -- Digests -----------------------------------------------------------------------------------

// The digest of an op on a driver with these.
static void digest(const struct gpu_own *with, const tapml_op *op, char out_text[64])
{
    struct gpu_notebook notebook = {.own = with, .sources = "those of today"};

    open_notebook(&notebook);
    const tapml_identity *identity =
        notebook.device->vt->interface_of(notebook.device, TAPML_IDENTITY);
    const char *text = identity->digest(notebook.device, op);

    cr_assert_not_null(text, "%s", op->name);
    cr_assert_lt(strlen(text), 64);
    memcpy(out_text, text, strlen(text) + 1);
    gpu_notebook_close(&notebook);
}

static int differ(const struct gpu_own *a, const struct gpu_own *b, const tapml_op *op)
{
    char first[64], second[64];

    digest(a, op, first);
    digest(b, op, second);
    return strcmp(first, second) != 0;
}

// The text of an own kernel is in the digest of own ops, and of those of the catalogue that may
// launch it.
Test(gpu_own, digests_have_the_text)
{
    struct k_kernel kernels[] = {*find_kernel("silu", 0), {.name = NULL}};
    const struct gpu_own replaced = {.replacements = kernels};

    kernels[0].code = (const unsigned char *)"another silu";
    kernels[0].size = sizeof("another silu");
    cr_expect_not(differ(&own, &own, &org_example_scale));
    cr_expect(differ(&own, &changed, &org_example_scale));
    cr_expect_not(differ(&own, &changed, &tapml_silu));
    cr_expect_not(differ(NULL, &own, &tapml_scale));
    cr_expect(differ(&own, &both, &tapml_scale));
    cr_expect(differ(NULL, &replaced, &tapml_silu));
    cr_expect_not(differ(NULL, &replaced, &tapml_gelu));
}
