// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_inputs.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "model/checkpoint.h"
#include "model/input_scheme.h"
#include "model/quantised_config.h"
#include "model/quantised_parts.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

// A weight by its name in the checkpoint that models know.
struct quantised_inputs_of {
    const char *weight;
    const struct input_scheme *inputs;
};

struct finding {
    struct checkpoint *checkpoint;
    const struct quantised_config *config;
    struct quantised_inputs_list list;
};

// Beyond it, what is computed with a factor would not be exact on every device.
static const double factor_most = 0x1p100;

// -- Factors -----------------------------------------------------------------------------------

// The tensor of `module` with one of the suffixes, which blanks separate; or NULL.
static tapml_status find_factor(const struct finding *finding,
                                const char *module,
                                const char *suffixes,
                                const struct checkpoint_tensor **out_tensor)
{
    struct arena *arena = checkpoint_arena(finding->checkpoint);
    *out_tensor = NULL;
    for (const char *at = suffixes; *at && !*out_tensor; at += strspn(at, " ")) {
        const int length = (int)strcspn(at, " ");
        const char *name = arena_format(arena, "%s%.*s", module, length, at);
        if (!name) {
            return status_no_memory();
        }
        *out_tensor = checkpoint_find(finding->checkpoint, name);
        at += length;
    }
    return TAPML_OK;
}

static tapml_status read_factor(const struct checkpoint_tensor *tensor, double *out_factor)
{
    int64_t count = 0;
    double factor = 0;
    TAPML_TRY(shape_count(tensor->tensor.shape, tensor->tensor.rank, &count));
    if (tensor->stored || !dtype_is_float(tensor->tensor.dtype) || count != 1) {
        return status_fail(TAPML_INVALID, "%s: tensor '%s': expected one float, found %lld of %s",
                           tensor->file, tensor->name, (long long)count,
                           quantised_parts_type(tensor));
    }
    convert_to_f64(tensor->tensor.dtype, tensor->data, 1, &factor);
    if (!(factor >= 1 / factor_most && factor <= factor_most)) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected a scale of inputs from 2^-100 to 2^100, "
                           "found %g",
                           tensor->file, tensor->name, factor);
    }
    *out_factor = factor;
    return TAPML_OK;
}

// -- All weights -------------------------------------------------------------------------------

// What the scheme says of a module's inputs; `*out_inputs` is NULL if the factor is not there.
static tapml_status inputs_of(const struct finding *finding,
                              const struct quantised_scheme *scheme,
                              const char *module,
                              const struct input_scheme **out_inputs)
{
    const struct checkpoint_tensor *tensor = NULL;
    *out_inputs = NULL;
    if (scheme->input_factors) {
        TAPML_TRY(find_factor(finding, module, scheme->input_factors, &tensor));
    }
    if (!tensor && scheme->input_factors) {
        return TAPML_OK;
    }
    struct input_scheme *copy = arena_new(checkpoint_arena(finding->checkpoint), sizeof(*copy));
    if (!copy) {
        return status_no_memory();
    }
    *copy = scheme->inputs;
    *out_inputs = copy;
    return tensor ? read_factor(tensor, &copy->factor) : TAPML_OK;
}

static tapml_status
add(struct finding *finding, const struct quantised_scheme *scheme, const char *module)
{
    struct quantised_inputs_of *item = &finding->list.items[finding->list.count];
    TAPML_TRY(inputs_of(finding, scheme, module, &item->inputs));
    if (!item->inputs) {
        return TAPML_OK;
    }
    item->weight = arena_format(checkpoint_arena(finding->checkpoint), "%s%s", module,
                                scheme->layout->becomes);
    finding->list.count++;
    return item->weight ? TAPML_OK : status_no_memory();
}

static tapml_status look_at(struct finding *finding, const struct checkpoint_tensor *tensor)
{
    for (size_t i = 0; i < quantised_config_count(finding->config); ++i) {
        char module[QUANTISED_MODULE_MAX];
        int matches = 0;
        const struct quantised_scheme *scheme = NULL;
        const struct quantised_layout *layout = quantised_config_at(finding->config, i)->layout;
        TAPML_TRY(quantised_parts_match(layout, tensor, &matches, module));
        if (!matches) {
            continue;
        }
        TAPML_TRY(quantised_config_find(finding->config, module, &scheme));
        const int has = scheme && scheme->layout == layout && scheme->quantises_inputs;
        return has ? add(finding, scheme, module) : TAPML_OK;
    }
    return TAPML_OK;
}

static int has_inputs(const struct quantised_config *config)
{
    int has = 0;
    for (size_t i = 0; i < quantised_config_count(config); ++i) {
        has |= quantised_config_at(config, i)->quantises_inputs;
    }
    return has;
}

static tapml_status find_all(struct finding *finding)
{
    const size_t count = checkpoint_count(finding->checkpoint);
    finding->list.items =
        arena_array(checkpoint_arena(finding->checkpoint), count, sizeof(*finding->list.items));
    tapml_status status = finding->list.items ? TAPML_OK : status_no_memory();
    for (size_t i = 0; i < count && status == TAPML_OK; ++i) {
        status = look_at(finding, checkpoint_at(finding->checkpoint, i));
    }
    return status;
}

tapml_status quantised_inputs_find(const char *folder,
                                   struct checkpoint *checkpoint,
                                   struct quantised_inputs_list *out_list)
{
    struct quantised_config *config = NULL;
    TAPML_TRY(quantised_config_open(folder, &config));
    struct finding finding = {.checkpoint = checkpoint, .config = config};
    const tapml_status status = config && has_inputs(config) ? find_all(&finding) : TAPML_OK;
    quantised_config_destroy(config);
    TAPML_TRY(status);
    *out_list = finding.list;
    return TAPML_OK;
}

void quantised_inputs_attach(const struct quantised_inputs_list *list,
                             struct checkpoint *checkpoint)
{
    for (size_t i = 0; i < list->count; ++i) {
        checkpoint_set_inputs(checkpoint, list->items[i].weight, list->items[i].inputs);
    }
}
