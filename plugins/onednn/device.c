// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <tapml/ops.h>

#include <stdio.h>
#include <string.h>

// What the library has a primitive for, or several.
#define DEVICE_OPS(X)                                                                              \
    X(add, ADD, rows_binary)                                                                       \
    X(attention, ATTENTION, attention_compute)                                                     \
    X(copy, COPY, rows_copy)                                                                       \
    X(exp, EXP, rows_unary)                                                                        \
    X(gelu, GELU, rows_unary)                                                                      \
    X(gelu_tanh, GELU_TANH, rows_unary)                                                            \
    X(layer_norm, LAYER_NORM, rows_layer_norm)                                                     \
    X(linear, LINEAR, linear_compute)                                                              \
    X(mul, MUL, rows_binary)                                                                       \
    X(relu, RELU, rows_unary)                                                                      \
    X(rms_norm, RMS_NORM, rows_rms_norm)                                                           \
    X(scale, SCALE, rows_unary)                                                                    \
    X(sigmoid, SIGMOID, rows_unary)                                                                \
    X(silu, SILU, rows_unary)                                                                      \
    X(softcap, SOFTCAP, rows_unary)                                                                \
    X(sub, SUB, rows_binary)                                                                       \
    X(tanh, TANH, rows_unary)

// A device, and which instructions it needs: without those of VNNI the library adds products of 8
// bits in 16 bits, which overflow.
struct kind {
    enum device_form form;
    const char *id, *name;
    unsigned isa;
    tapml_arithmetic_form arithmetic; // Of linear; the rest is f32.
};

#define DEVICE_FORM .hdr = TAPML_HDR(tapml_arithmetic_form)
static const struct kind kinds[DEVICE_FORMS] = {
    {DEVICE_F32, "f32", "oneDNN in f32", 0, {DEVICE_FORM}},
    {DEVICE_BF16,
     "bf16",
     "oneDNN, products of bf16",
     dnnl_cpu_isa_avx512_core,
     {DEVICE_FORM, .inputs = TAPML_FORMAT_BF16, .weights = TAPML_FORMAT_BF16}},
    {DEVICE_INT8,
     "int8",
     "oneDNN, products of 8 bits",
     dnnl_cpu_isa_avx512_core_vnni,
     {DEVICE_FORM, .inputs = TAPML_FORMAT_Q8, .block = 32}},
};

// The root's own: the library, and the devices that are there.
struct onednn {
    struct library library;
    struct memory_component component;
    tapml_device_info device_infos[DEVICE_FORMS];
    const tapml_device_info *infos[DEVICE_FORMS];
    const void *devices[DEVICE_FORMS];
    char driver[64];
};

static struct onednn *onednn_of(tapml_object *object)
{
    struct memory_object *own = memory_object_of(object);

    return (struct onednn *)(void *)(own->root != NULL ? own->root : own)->data;
}

static struct run run_of(tapml_object *object, const tapml_op *op, int is_trial)
{
    const struct memory_object *own = memory_object_of(object);

    return (struct run){
        .library = &onednn_of(object)->library,
        .object = own,
        .op = op,
        .form = ((const struct kind *)own->device)->form,
        .is_trial = is_trial,
    };
}

static void compute(struct run *run, compute_fn *function, const tapml_value *args)
{
    (void)pthread_mutex_lock(&run->library->lock);
    function(run, args);
    (void)pthread_mutex_unlock(&run->library->lock);
}

static tapml_status apply(tapml_object *queue,
                          tapml_call *call,
                          const tapml_op *op,
                          compute_fn *function,
                          const tapml_value *args)
{
    struct run run = run_of(queue, op, 0);

    compute(&run, function, args);
    return run.problem[0] == '\0'
               ? TAPML_OK
               : memory_fail(run.object, call, TAPML_INTERNAL, "%s: %s", op->name, run.problem);
}

#define DEVICE_FUNCTION(name, upper, function)                                                     \
    static tapml_status name##_call(TAPML_##upper##_PARAMS)                                        \
    {                                                                                              \
        const tapml_value args[] = TAPML_##upper##_VALUES;                                         \
                                                                                                   \
        return apply(queue, call, &tapml_##name, function, args);                                  \
    }                                                                                              \
    static const tapml_op_impl name##_impl = TAPML_IMPL(tapml_##name, name##_call);
#define DEVICE_IMPL(name, upper, function)    &name##_impl,
#define DEVICE_COMPUTE(name, upper, function) function,

DEVICE_OPS(DEVICE_FUNCTION)

static const tapml_op_impl *const impls[] = {DEVICE_OPS(DEVICE_IMPL)};
static compute_fn *const functions[] = {DEVICE_OPS(DEVICE_COMPUTE)};

enum { OPS = sizeof(impls) / sizeof(*impls) };

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    *out_list = impls;
    *out_count = OPS;
    return TAPML_OK;
}

// The library is asked: the primitives of the call are made, and kept for it.
static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    uint32_t i = 0;

    while (i < OPS && strcmp(op->name, impls[i]->op->name) != 0) {
        i++;
    }
    struct run run = run_of(device, i < OPS ? impls[i]->op : op, 1);

    if (i == OPS) {
        run_refuse(&run, "the library has no primitive for %s", op->name);
    } else {
        compute(&run, functions[i], args);
    }
    answer->grade = run.problem[0] == '\0' ? TAPML_SUPPORT_YES : TAPML_SUPPORT_NO;
    memcpy(answer->reason, run.problem, sizeof(run.problem));
    return TAPML_OK;
}

_Static_assert(sizeof(((tapml_support *)0)->reason) == LIBRARY_PROBLEM, "a problem is a reason");

// -- Devices -----------------------------------------------------------------------------------

static const tapml_arithmetic_form *form(tapml_object *device, const tapml_op *op)
{
    const struct kind *kind = memory_object_of(device)->device;

    return kind->form != DEVICE_F32 && strcmp(op->name, tapml_linear.name) == 0 ? &kind->arithmetic
                                                                                : NULL;
}

static const tapml_arithmetic arithmetic = {TAPML_HDR(tapml_arithmetic), form};

static const void *interface_of(tapml_object *device, const char *id)
{
    return strcmp(id, TAPML_ARITHMETIC) == 0 ? &arithmetic : NULL;
}

static void end(tapml_object *root)
{
    library_close(&onednn_of(root)->library, memory_object_of(root));
}

static void add_devices(struct onednn *own)
{
    static const tapml_memory_type memory = {
        .hdr = TAPML_HDR(tapml_memory_type),
        .traits = TAPML_MEMORY_DEVICE_LOCAL | TAPML_MEMORY_HOST_VISIBLE,
        .align = MEMORY_OBJECT_ALIGN,
        .max_bytes = UINT64_MAX,
    };
    static const tapml_memory_type *const memories[] = {&memory};
    const dnnl_version_t *version = dnnl_version();
    const unsigned isa = (unsigned)dnnl_get_effective_cpu_isa();
    uint32_t count = 0;

    (void)snprintf(own->driver, sizeof(own->driver), "oneDNN %d.%d.%d, instructions 0x%x",
                   version->major, version->minor, version->patch, isa);
    for (int i = 0; i < DEVICE_FORMS; i++) {
        if ((isa & kinds[i].isa) == kinds[i].isa) {
            own->device_infos[count] = (tapml_device_info){
                .hdr = TAPML_HDR(tapml_device_info),
                .id = kinds[i].id,
                .name = kinds[i].name,
                .driver = own->driver,
                .traits = TAPML_DEVICE_HOST_MEMORY,
                .n_memory_types = 1,
                .memory_types = memories,
            };
            own->infos[count] = &own->device_infos[count];
            own->devices[count++] = &kinds[i];
        }
    }
    own->component = (struct memory_component){
        count, own->infos, own->devices, ops, supports, interface_of, end,
    };
}

tapml_status device_create(const tapml_host *host, tapml_call *call, tapml_object **out_root)
{
    char problem[LIBRARY_PROBLEM];
    tapml_object *root = NULL;
    tapml_status status = memory_backend_create(host, call, NULL, sizeof(struct onednn), &root);

    if (status != TAPML_OK) {
        return status;
    }
    add_devices(onednn_of(root));
    memory_object_of(root)->component = &onednn_of(root)->component;
    if (!library_open(&onednn_of(root)->library, problem)) {
        status = memory_fail(memory_object_of(root), call, TAPML_UNAVAILABLE, "%s", problem);
        root->vt->release(root);
        return status;
    }
    *out_root = root;
    return TAPML_OK;
}
