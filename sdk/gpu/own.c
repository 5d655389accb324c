// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "own.h"

#include <tapml/gpu/plan.h>
#include <tapml/ops.h>

#include <string.h>

// Of a driver that has none.
static const struct gpu_own nothing = {NULL, NULL, NULL, NULL};
static const struct k_kernel no_kernels[] = {{.name = NULL}};
static const tapml_op_impl *const no_ops[] = {NULL};

static const struct gpu_own *own_of(const struct gpu_driver *driver)
{
    return driver->own != NULL ? driver->own : &nothing;
}

const struct k_kernel *gpu_own_kernels(const struct gpu_driver *driver)
{
    const struct gpu_own *own = own_of(driver);

    return own->kernels != NULL ? own->kernels : no_kernels;
}

const struct k_kernel *gpu_own_replacements(const struct gpu_driver *driver)
{
    const struct gpu_own *own = own_of(driver);

    return own->replacements != NULL ? own->replacements : no_kernels;
}

static const tapml_op_impl *const *ops_of(const struct gpu_driver *driver)
{
    const struct gpu_own *own = own_of(driver);

    return own->ops != NULL ? own->ops : no_ops;
}

uint32_t gpu_own_op_count(const struct gpu_driver *driver)
{
    const tapml_op_impl *const *ops = ops_of(driver);
    uint32_t count = 0;

    while (ops[count] != NULL) {
        count++;
    }
    return count;
}

static int is_op(const tapml_op *a, const tapml_op *b)
{
    return a->version == b->version && strcmp(a->name, b->name) == 0;
}

const tapml_op_impl *gpu_own_find_op(const struct gpu_driver *driver, const tapml_op *op)
{
    const tapml_op_impl *const *ops = ops_of(driver);

    while (*ops != NULL && !is_op((*ops)->op, op)) {
        ops++;
    }
    return *ops;
}

const struct k_kernel *
gpu_own_find_kernel(const struct k_kernel *table, const char *name, uint32_t variant)
{
    for (const struct k_kernel *kernel = table; kernel->name != NULL; kernel++) {
        if (kernel->variant == variant && strcmp(kernel->name, name) == 0) {
            return kernel;
        }
    }
    return NULL;
}

// -- Kernels -----------------------------------------------------------------------------------

// What is wrong with the constants of a kernel, or NULL.
static const char *find_tune_problem(const struct k_kernel *kernel)
{
    static const char *const axes[] = {"WG_X", "WG_Y", "WG_Z"};

    if (kernel->n_tune < 3 || kernel->n_tune > K_TUNE_MAX || kernel->tune == NULL) {
        return "its constants are not WG_X, WG_Y, WG_Z and at most 6 more";
    }
    for (uint32_t i = 0; i < kernel->n_tune; i++) {
        if (kernel->tune[i].name == NULL || (i < 3 && strcmp(kernel->tune[i].name, axes[i]) != 0)) {
            return "its first constants are not WG_X, WG_Y and WG_Z";
        }
    }
    return NULL;
}

// What is wrong with a kernel by itself, or NULL.
static const char *find_problem(const struct k_kernel *kernel)
{
    if (kernel->code == NULL || kernel->size == 0) {
        return "it has no code";
    }
    if (kernel->n_binding == 0 || kernel->n_binding > K_BINDING_MAX || kernel->binding == NULL) {
        return "it does not bind 1 to 8 buffers";
    }
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        if (kernel->binding[i].name == NULL || kernel->binding[i].index != i) {
            return "its bindings are not numbered 0, 1, 2 in their order";
        }
    }
    if (kernel->params_size == 0 || kernel->params_size > K_PARAMS_MAX ||
        kernel->params_size % sizeof(uint32_t) != 0) {
        return "its parameters are not 4 to 128 bytes in words of 4";
    }
    return find_tune_problem(kernel);
}

// Whether a launch that is made for one kernel fits the other.
static int have_one_interface(const struct k_kernel *a, const struct k_kernel *b)
{
    if (a->params_size != b->params_size || a->n_tune != b->n_tune ||
        a->n_binding != b->n_binding) {
        return 0;
    }
    for (uint32_t i = 0; i < a->n_tune; i++) {
        if (strcmp(a->tune[i].name, b->tune[i].name) != 0) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < a->n_binding; i++) {
        if (a->binding[i].access != b->binding[i].access) {
            return 0;
        }
    }
    return 1;
}

// The kernel of the driver's table of that name, in any variant, or NULL.
static const struct k_kernel *find_same_name(const struct gpu_driver *driver, const char *name)
{
    for (const struct k_kernel *kernel = driver->kernels; kernel->name != NULL; kernel++) {
        if (strcmp(kernel->name, name) == 0) {
            return kernel;
        }
    }
    return NULL;
}

static tapml_status check_kernel(const struct k_kernel *table,
                                 const struct gpu_host *host,
                                 tapml_call *call,
                                 const struct k_kernel *kernel)
{
    const char *problem = find_problem(kernel);

    if (problem != NULL) {
        return gpu_fail(host, call, TAPML_INVALID, 0, "the driver's own kernel '%.80s': %s",
                        kernel->name, problem);
    }
    return gpu_own_find_kernel(table, kernel->name, kernel->variant) == kernel
               ? TAPML_OK
               : gpu_fail(host, call, TAPML_INVALID, 0,
                          "the driver's own kernel '%.80s' has variant %u twice", kernel->name,
                          kernel->variant);
}

static tapml_status check_replacement(const struct gpu_driver *driver,
                                      const struct gpu_host *host,
                                      tapml_call *call,
                                      const struct k_kernel *kernel)
{
    const struct k_kernel *other = find_same_name(driver, kernel->name);

    if (other == NULL) {
        return gpu_fail(host, call, TAPML_INVALID, 0,
                        "the driver's own kernel '%.80s' takes the place of none: its table has no "
                        "kernel of that name",
                        kernel->name);
    }
    return have_one_interface(kernel, other)
               ? TAPML_OK
               : gpu_fail(host, call, TAPML_INVALID, 0,
                          "the driver's own kernel '%.80s' takes the place of one with other "
                          "parameters, constants or buffers",
                          kernel->name);
}

// -- Ops ---------------------------------------------------------------------------------------

static const tapml_op *find_in_catalogue(const tapml_op *op)
{
    for (uint32_t i = 0; i < TAPML_OPS_COUNT; i++) {
        if (is_op(tapml_ops[i], op)) {
            return tapml_ops[i];
        }
    }
    return NULL;
}

static tapml_status check_op(const struct gpu_driver *driver,
                             const struct gpu_host *host,
                             tapml_call *call,
                             const tapml_op_impl *impl)
{
    static const char prefix[] = "tapml.";

    if (impl->op == NULL || impl->fn == NULL || impl->convention != 1) {
        return gpu_fail(host, call, TAPML_INVALID, 0,
                        "one of the driver's own ops has no schema, no function, or another "
                        "convention than 1: TAPML_IMPL fills it in");
    }
    if (gpu_own_find_op(driver, impl->op) != impl) {
        return gpu_fail(host, call, TAPML_INVALID, 0, "the driver has '%.80s' version %u twice",
                        impl->op->name, impl->op->version);
    }
    if (strncmp(impl->op->name, prefix, sizeof(prefix) - 1) == 0) {
        return find_in_catalogue(impl->op) == impl->op
                   ? TAPML_OK
                   : gpu_fail(host, call, TAPML_INVALID, 0,
                              "the driver's own '%.80s' version %u has not the schema of "
                              "<tapml/ops.h>: a name of one's own begins with a domain",
                              impl->op->name, impl->op->version);
    }
    return own_of(driver)->apply != NULL
               ? TAPML_OK
               : gpu_fail(host, call, TAPML_INVALID, 0,
                          "the driver has '%.80s' and no 'apply', which opgen writes, to call it",
                          impl->op->name);
}

tapml_status
gpu_own_check(const struct gpu_driver *driver, const struct gpu_host *host, tapml_call *call)
{
    const struct k_kernel *kernels = gpu_own_kernels(driver);
    const struct k_kernel *replacements = gpu_own_replacements(driver);

    for (const struct k_kernel *kernel = kernels; kernel->name != NULL; kernel++) {
        GPU_TRY(check_kernel(kernels, host, call, kernel));
    }
    for (const struct k_kernel *kernel = replacements; kernel->name != NULL; kernel++) {
        GPU_TRY(check_kernel(replacements, host, call, kernel));
        GPU_TRY(check_replacement(driver, host, call, kernel));
    }
    for (const tapml_op_impl *const *ops = ops_of(driver); *ops != NULL; ops++) {
        GPU_TRY(check_op(driver, host, call, *ops));
    }
    return TAPML_OK;
}
