// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_weights.h"

#include "base/arena.h"
#include "base/log.h"
#include "gguf/gguf_map.h"
#include "tensor/dtype.h"

#include <string.h>

struct gguf_making {
    struct checkpoint *checkpoint;
    size_t made_count, decoded_count;
    uint64_t made_bytes;
};

static const char *plain_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Of what type and encoding a tensor of the file is.
static tapml_status set_type(const struct gguf_recipe *recipe, tapml_tensor *tensor)
{
    const struct gguf_tensor *source = recipe->sources[0].tensor;
    const struct gguf_type *type = gguf_recipe_type(recipe);
    tensor->encoding = gguf_type_encoding(type);
    tensor->dtype = tensor->encoding ? TAPML_U8 : type->dtype;
    return tensor->dtype != 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: tensor '%.128s': the type %s is unsupported",
                             gguf_file_path(source->file), source->tensor->name, type->name);
}

static tapml_status set_data(struct gguf_making *making,
                             const struct gguf_recipe *recipe,
                             struct checkpoint_tensor *tensor)
{
    tensor->bytes = gguf_recipe_bytes(recipe);
    tensor->data = gguf_recipe_mapped(recipe);
    if (tensor->data || tensor->bytes == 0) {
        return TAPML_OK;
    }
    const size_t align = tensor->tensor.encoding ? encoding_align(tensor->tensor.encoding)
                                                 : dtype_bytes(tensor->tensor.dtype);
    void *copy = checkpoint_copy(making->checkpoint, tensor->bytes, align);
    if (!copy) {
        return status_no_memory();
    }
    TAPML_TRY(gguf_recipe_make(recipe, copy));
    tensor->data = copy;
    ++making->made_count;
    making->decoded_count += gguf_recipe_type(recipe) != recipe->sources[0].tensor->tensor->type;
    making->made_bytes += tensor->bytes;
    return TAPML_OK;
}

static tapml_status add(void *user, const char *name, const struct gguf_recipe *recipe)
{
    struct gguf_making *making = user;
    const struct gguf_tensor *source = recipe->sources[0].tensor;
    struct arena *arena = checkpoint_arena(making->checkpoint);
    int64_t *shape = arena_array(arena, recipe->rank + 1, sizeof(*shape));
    struct checkpoint_tensor tensor = {
        .name = arena_text(arena, name),
        .tensor = {.hdr = TAPML_HDR(tapml_tensor), .rank = recipe->rank},
        .file = arena_text(arena, plain_name(gguf_file_path(source->file))),
    };
    if (!shape || !tensor.name || !tensor.file) {
        return status_no_memory();
    }
    memcpy(shape, recipe->shape, recipe->rank * sizeof(*shape));
    tensor.tensor.shape = recipe->rank > 0 ? shape : NULL;
    TAPML_TRY(set_type(recipe, &tensor.tensor));
    TAPML_TRY(set_data(making, recipe, &tensor));
    return checkpoint_add_tensor(making->checkpoint, &tensor);
}

// Hands the mappings over, once nothing reads the files any more.
static tapml_status add_files(struct checkpoint *checkpoint, struct gguf *gguf)
{
    for (size_t i = 0; i < gguf_file_count(gguf); ++i) {
        struct gguf_file *file = gguf_file_at(gguf, i);
        const uint64_t header_bytes = gguf_file_header_bytes(file);
        TAPML_TRY(checkpoint_add_file(checkpoint, plain_name(gguf_file_path(file)),
                                      gguf_file_own_map(file)));
        checkpoint_set_header(checkpoint, 0, header_bytes);
    }
    return TAPML_OK;
}

static tapml_status fill(struct checkpoint *checkpoint, struct gguf *gguf)
{
    struct gguf_making making = {.checkpoint = checkpoint};
    struct gguf_family *family = NULL;
    TAPML_TRY(gguf_family_open(gguf, &family));
    const tapml_status status = gguf_map_each(gguf, family, add, &making);
    gguf_family_close(family);
    TAPML_TRY(status);
    if (making.made_count > 0) {
        log_line(LOG_WARNING,
                 "%s: %zu tensors were put in another order, %zu of them decoded; they take %llu "
                 "bytes",
                 gguf_path(gguf), making.made_count, making.decoded_count,
                 (unsigned long long)making.made_bytes);
    }
    TAPML_TRY(add_files(checkpoint, gguf));
    return checkpoint_finish(checkpoint);
}

tapml_status gguf_weights_open(const char *path, struct checkpoint **out_checkpoint)
{
    struct gguf *gguf = NULL;
    struct checkpoint *checkpoint = NULL;
    TAPML_TRY(gguf_open(path, &gguf));
    tapml_status status = checkpoint_create(&checkpoint);
    if (status == TAPML_OK) {
        status = fill(checkpoint, gguf);
    }
    gguf_close(gguf);
    if (status != TAPML_OK) {
        checkpoint_close(checkpoint);
        return status;
    }
    *out_checkpoint = checkpoint;
    return TAPML_OK;
}
