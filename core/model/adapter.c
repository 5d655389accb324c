// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/adapter.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "model/adapter_config.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <stdio.h>
#include <string.h>

enum { MODULE_MAX = 255, MODULE_ROOM = MODULE_MAX + 16 };

static const char file_name[] = "adapter_model.safetensors";
static const char before[] = "base_model.model.";
static const char down_end[] = ".lora_A.weight";
static const char up_end[] = ".lora_B.weight";

struct adapter_joining {
    const char *folder;
    struct checkpoint *checkpoint;
    struct adapter_config *config;
    struct checkpoint_tensor *tensors; // Of the adapter, as they were read.
    size_t count;
};

// -- Names -------------------------------------------------------------------------------------

// The module of a tensor's name, whose last part is that of A or of B.
static tapml_status
read_name(const struct checkpoint_tensor *tensor, char out_module[MODULE_ROOM], int *out_is_up)
{
    const char *name = tensor->name;
    const size_t first = strlen(before), last = strlen(down_end);
    const size_t length = strlen(name);
    const int is_up = text_ends_with(name, up_end);
    if (strncmp(name, before, first) != 0 || (!is_up && !text_ends_with(name, down_end)) ||
        length <= first + last || length - first - last > MODULE_MAX) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "%s: tensor '%s': expected %sMODULE%s or %s with a module of at most "
                           "%d bytes; nothing else is supported",
                           file_name, name, before, down_end, up_end, MODULE_MAX);
    }
    memcpy(out_module, name + first, length - first - last);
    out_module[length - first - last] = '\0';
    *out_is_up = is_up;
    return TAPML_OK;
}

static const struct checkpoint_tensor *find_plain(const struct checkpoint *checkpoint,
                                                  const char *module)
{
    char name[MODULE_ROOM + 16];
    (void)snprintf(name, sizeof(name), "%s.weight", module);
    return checkpoint_find(checkpoint, name);
}

// The only weight with `module` behind other parts of its name; NULL if there are several.
static const struct checkpoint_tensor *find_longer(const struct checkpoint *checkpoint,
                                                   const char *module)
{
    const struct checkpoint_tensor *found = NULL;
    char end[MODULE_ROOM + 16];
    (void)snprintf(end, sizeof(end), ".%s.weight", module);
    for (size_t i = 0; i < checkpoint_count(checkpoint); ++i) {
        const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
        if (text_ends_with(tensor->name, end)) {
            if (found) {
                return NULL;
            }
            found = tensor;
        }
    }
    return found;
}

// A class with a head has one part more before its names than the same model without; files of
// either kind are published.
static tapml_status find_weight(const struct adapter_joining *joining,
                                const char *module,
                                const struct checkpoint_tensor **out_weight)
{
    const char *dot = strchr(module, '.');
    const struct checkpoint_tensor *weight = find_plain(joining->checkpoint, module);
    if (!weight && dot) {
        weight = find_plain(joining->checkpoint, dot + 1);
    }
    if (!weight) {
        weight = find_longer(joining->checkpoint, module);
    }
    if (!weight) {
        return status_fail(TAPML_INVALID,
                           "%s: module '%s': expected a weight of the model with that name, found "
                           "none, or several",
                           file_name, module);
    }
    *out_weight = weight;
    return TAPML_OK;
}

// -- A module ----------------------------------------------------------------------------------

static tapml_status
check_matrix(const struct checkpoint_tensor *tensor, int64_t rows, int64_t columns)
{
    char found[128];
    const int64_t *shape = tensor->tensor.shape;
    const uint32_t dtype = tensor->tensor.dtype;
    const int is_plain =
        !tensor->stored && (dtype == TAPML_F32 || dtype == TAPML_F16 || dtype == TAPML_BF16);
    if (is_plain && tensor->tensor.rank == 2 && shape[0] == rows && shape[1] == columns) {
        return TAPML_OK;
    }
    shape_text(shape, tensor->tensor.rank, found, sizeof(found));
    return status_fail(TAPML_INVALID,
                       "%s: tensor '%s': expected [%lld, %lld] of F32, F16 or BF16, found %s of %s",
                       file_name, tensor->name, (long long)rows, (long long)columns, found,
                       tensor->stored ? tensor->stored : dtype_name(dtype));
}

// The weight lies as [out, in] or, with `fan_in_fan_out`, as [in, out]: its graph knows which, and
// some readers turn it round. So both fit.
static tapml_status check_shapes(const struct checkpoint_tensor *weight,
                                 const struct checkpoint_tensor *down,
                                 const struct checkpoint_tensor *up,
                                 int64_t rank)
{
    const int64_t *shape = weight->tensor.shape;
    if (weight->tensor.rank != 2) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "%s: tensor '%s': expected a weight of two axes, found '%s' of %u",
                           file_name, down->name, weight->name, weight->tensor.rank);
    }
    const int64_t in = down->tensor.rank == 2 ? down->tensor.shape[1] : 0;
    const int is_turned = in != shape[1] && in == shape[0];
    TAPML_TRY(check_matrix(down, rank, shape[is_turned ? 0 : 1]));
    return check_matrix(up, shape[is_turned ? 1 : 0], rank);
}

static tapml_status make_module(const struct adapter_joining *joining,
                                const char *module,
                                const struct checkpoint_tensor *down,
                                const struct checkpoint_tensor *up)
{
    struct adapter_scale scale;
    const struct checkpoint_tensor *weight = NULL;
    struct arena *arena = checkpoint_arena(joining->checkpoint);
    TAPML_TRY(find_weight(joining, module, &weight));
    TAPML_TRY(adapter_config_find(joining->config, module, &scale));
    TAPML_TRY(check_shapes(weight, down, up, scale.rank));
    if (weight->adapter) {
        return status_fail(TAPML_INVALID, "%s: modules '%s' and '%s' are both of weight '%s'",
                           file_name, weight->adapter->module, module, weight->name);
    }
    struct checkpoint_adapter *made = arena_new(arena, sizeof(*made));
    const char *name = arena_text(arena, module);
    if (!made || !name) {
        return status_no_memory();
    }
    *made = (struct checkpoint_adapter){.module = name,
                                        .weight = weight->name,
                                        .down = down->name,
                                        .up = up->name,
                                        .factor = scale.factor,
                                        .rank = scale.rank};
    checkpoint_set_adapter(joining->checkpoint, made);
    return TAPML_OK;
}

// Both tensors of a module are looked for where one of them is met; it is made where A is.
static tapml_status take(const struct adapter_joining *joining,
                         const struct checkpoint_tensor *tensor)
{
    char module[MODULE_ROOM];
    char name[MODULE_ROOM + sizeof(before) + sizeof(down_end)];
    int is_up = 0;
    TAPML_TRY(read_name(tensor, module, &is_up));
    (void)snprintf(name, sizeof(name), "%s%s%s", before, module, is_up ? down_end : up_end);
    const struct checkpoint_tensor *other = checkpoint_find(joining->checkpoint, name);
    if (!other) {
        return status_fail(TAPML_INVALID, "%s: module '%s' lacks tensor '%s'", file_name, module,
                           name);
    }
    return is_up ? TAPML_OK : make_module(joining, module, tensor, other);
}

// -- All of it ---------------------------------------------------------------------------------

// A target of which the model has a weight and the adapter nothing: the file is not whole.
static tapml_status check_targets(const struct adapter_joining *joining)
{
    const char *word = NULL;
    for (size_t n = 0; (word = adapter_config_unused(joining->config, n)) != NULL; ++n) {
        for (size_t i = 0; i < checkpoint_count(joining->checkpoint); ++i) {
            const char *name = checkpoint_at(joining->checkpoint, i)->name;
            const char *at = strstr(name, word);
            if (at && strcmp(at + strlen(word), ".weight") == 0 && (at == name || at[-1] == '.')) {
                return status_fail(TAPML_INVALID,
                                   "%s: expected tensors of module '%s', which 'target_modules' "
                                   "has, for weight '%s', found none",
                                   file_name, word, name);
            }
        }
    }
    return TAPML_OK;
}

// Until the checkpoint is finished again the tensors of the adapter are its last.
static tapml_status add_file(struct adapter_joining *joining)
{
    struct checkpoint *checkpoint = joining->checkpoint;
    const size_t known = checkpoint_count(checkpoint);
    char *path = file_join(joining->folder, file_name);
    if (!path) {
        return status_no_memory();
    }
    const tapml_status status = safetensors_add(checkpoint, path);
    alloc_free(path);
    TAPML_TRY(status);
    joining->count = checkpoint_count(checkpoint) - known;
    joining->tensors =
        arena_array(checkpoint_arena(checkpoint), joining->count, sizeof(*joining->tensors));
    if (!joining->tensors) {
        return status_no_memory();
    }
    for (size_t i = 0; i < joining->count; ++i) {
        joining->tensors[i] = *checkpoint_at(checkpoint, known + i);
    }
    return checkpoint_finish(checkpoint);
}

static tapml_status join(struct adapter_joining *joining)
{
    TAPML_TRY(add_file(joining));
    if (joining->count == 0) {
        return status_fail(TAPML_INVALID, "%s: expected tensors, found none", file_name);
    }
    for (size_t i = 0; i < joining->count; ++i) {
        TAPML_TRY(take(joining, &joining->tensors[i]));
    }
    return check_targets(joining);
}

tapml_status adapter_join(const char *folder, struct checkpoint *checkpoint)
{
    struct adapter_joining joining = {.folder = folder, .checkpoint = checkpoint};
    tapml_status status = adapter_config_open(folder, &joining.config);
    if (status == TAPML_OK) {
        status = join(&joining);
        adapter_config_close(joining.config);
    }
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "adapter '%s'", folder);
}
