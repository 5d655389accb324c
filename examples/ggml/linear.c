// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "catalogue.h"
#include "ops.h"

// Whether the form of the device multiplies with weights of this type.
static int takes(enum device_form form, enum ggml_type type)
{
    static const struct {
        enum device_form form;
        enum ggml_type type;
    } table[] = {
        {DEVICE_F32, GGML_TYPE_F32},     {DEVICE_F16, GGML_TYPE_F16},
        {DEVICE_BF16, GGML_TYPE_BF16},   {DEVICE_BLOCKS, GGML_TYPE_Q8_0},
        {DEVICE_BLOCKS, GGML_TYPE_Q4_0}, {DEVICE_BLOCKS, GGML_TYPE_Q5_0},
        {DEVICE_SUPER, GGML_TYPE_Q4_K},  {DEVICE_SUPER, GGML_TYPE_Q5_K},
        {DEVICE_SUPER, GGML_TYPE_Q6_K},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (table[i].form == form && table[i].type == type) {
            return 1;
        }
    }
    return form == DEVICE_ANY;
}

// y = x * w^T, + b. Weights that lie as [in, out] are turned in each call.
void linear_build(struct run *run, const tapml_value *args)
{
    const struct library *ggml = run->library;
    struct ggml_tensor *x = run_dense(run, tensor_of(&args[TAPML_LINEAR_X]), 1);
    struct ggml_tensor *w = run_weight(run, tensor_of(&args[TAPML_LINEAR_W]));
    struct ggml_tensor *b = run_factors(run, tensor_of(&args[TAPML_LINEAR_B]));

    if (x == NULL || w == NULL) {
        return;
    }
    if (!takes(run->device->kind->form, w->type)) {
        run_refuse(run, "%s does not multiply with weights in %s", run->device->kind->id,
                   ggml->type_name(w->type));
    }
    if (!run_is_well(run)) {
        return;
    }
    if (args[TAPML_LINEAR_TRANSPOSED].u.i != 0) {
        w = ggml->cont(run->context, ggml->transpose(run->context, w));
    }
    struct ggml_tensor *y = ggml->mul_mat(run->context, w, x);

    (void)ggml->prec_set_acc(y, GGML_PREC_F32);
    run_result(run, b != NULL ? ggml->add(run->context, y, b) : y,
               tensor_of(&args[TAPML_LINEAR_Y]));
}
