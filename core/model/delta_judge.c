// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_judge.h"

#include "base/alloc.h"
#include "model/checkpoint.h"
#include "model/delta.h"
#include "tensor/dtype.h"

#include <stdlib.h>
#include <string.h>

// The three tensors of an item.
struct trio {
    const struct checkpoint_tensor *base, *fine, *made;
};

static tapml_status find_tensor(const struct checkpoint *checkpoint,
                                const struct delta_item *item,
                                const char *whose,
                                const struct checkpoint_tensor **out_tensor)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, item->name);
    uint64_t count = 0;
    if (tensor) {
        TAPML_TRY(delta_count_values(tensor, &count));
    }
    if (!tensor || count != item->form.count || tensor->tensor.dtype != item->form.dtype) {
        return status_fail(
            TAPML_INVALID, "tensor '%s' of the %s: expected %llu values of %s, found %llu of %s",
            item->name, whose, (unsigned long long)item->form.count, dtype_name(item->form.dtype),
            (unsigned long long)count, tensor ? dtype_name(tensor->tensor.dtype) : "none");
    }
    *out_tensor = tensor;
    return TAPML_OK;
}

static tapml_status judge_matrix(const struct delta_item *item,
                                 const struct trio *trio,
                                 const struct delta_calibration *calibration,
                                 struct delta_judged *io_judged)
{
    struct delta_form form = item->form;
    double *moments = NULL;
    form.columns = delta_count_columns(trio->fine);
    TAPML_TRY(delta_calibration_find(calibration, item->name, form.columns, &moments));
    if (!moments) {
        return TAPML_OK;
    }
    const struct delta_calibration_tensor tensor = {.form = &form,
                                                    .base = trio->base->data,
                                                    .fine = trio->fine->data,
                                                    .made = trio->made->data};
    struct delta_judged_weight weight = {.item = item};
    const tapml_status status =
        delta_calibration_weigh(calibration, moments, &tensor, &weight.effect);
    alloc_free(moments);
    TAPML_TRY(status);
    io_judged->effect.lost += weight.effect.lost;
    io_judged->effect.whole += weight.effect.whole;
    io_judged->weights[io_judged->count++] = weight;
    return TAPML_OK;
}

static int compare(const void *x, const void *y)
{
    const struct delta_judged_weight *a = x, *b = y;
    const double first = delta_calibration_part(&a->effect),
                 second = delta_calibration_part(&b->effect);
    return first != second ? (first < second) - (first > second)
                           : strcmp(a->item->name, b->item->name);
}

tapml_status delta_judge(const struct delta *delta,
                         const struct checkpoint *base,
                         const struct checkpoint *fine,
                         const struct checkpoint *made,
                         const struct delta_calibration *calibration,
                         struct delta_judged *out_judged)
{
    *out_judged = (struct delta_judged){
        .weights = alloc_array(delta_count(delta) + 1, sizeof(*out_judged->weights))};
    if (!out_judged->weights) {
        return status_no_memory();
    }
    for (size_t i = 0; i < delta_count(delta); ++i) {
        const struct delta_item *item = delta_at(delta, i);
        struct trio trio = {NULL, NULL, NULL};
        TAPML_TRY(find_tensor(base, item, "base", &trio.base));
        TAPML_TRY(find_tensor(fine, item, "fine-tune", &trio.fine));
        TAPML_TRY(find_tensor(made, item, "base with the delta", &trio.made));
        if (trio.fine->tensor.rank >= 2 && item->form.count > 0 &&
            dtype_is_float(item->form.dtype)) {
            TAPML_TRY(judge_matrix(item, &trio, calibration, out_judged));
        }
        TAPML_TRY(delta_calibration_tell(calibration, i + 1, delta_count(delta)));
    }
    qsort(out_judged->weights, out_judged->count, sizeof(*out_judged->weights), compare);
    return TAPML_OK;
}

void delta_judge_release(struct delta_judged *judged)
{
    alloc_free(judged->weights);
    *judged = (struct delta_judged){.count = 0};
}
