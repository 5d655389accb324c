// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/json_file.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

enum { ALIGN = 8 };

struct delta {
    struct checkpoint *file;
    json_t *root;
    struct hash hash; // Of the JSON text.
    struct delta_item *items;
    size_t count;
};

// -- Reading -----------------------------------------------------------------------------------

static const char *word_of(const json_t *entry, const char *key)
{
    const char *word = json_string_value(json_object_get(entry, key));
    return word ? word : "";
}

static int read_number(const json_t *entry, const char *key, uint64_t *out_number)
{
    const json_t *value = json_object_get(entry, key);
    *out_number = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

// What a file of an earlier version does not say. It decides nothing.
static void read_loss(const json_t *entry, struct delta_item *item)
{
    const json_t *value = json_object_get(entry, "lost");
    const double lost = json_number_value(value);
    item->lost = json_is_number(value) && lost >= 0 ? lost : -1;
    item->is_of_outputs = strcmp(word_of(entry, "of"), "outputs") == 0;
}

// Of changes that are added the type is one that is computed with.
static int is_form(const struct delta_form *form)
{
    if (form->kind == DELTA_KINDS || form->dtype == 0 || form->count > INT64_MAX / 16) {
        return 0;
    }
    return form->kind == DELTA_XOR ? form->kept == 0
                                   : form->kept <= form->count && dtype_is_float(form->dtype);
}

static tapml_status
read_item(const struct delta *delta, const json_t *entry, struct delta_item *item)
{
    const char *name = word_of(entry, "name");
    const int has_numbers = read_number(entry, "count", &item->form.count) &&
                            read_number(entry, "kept", &item->form.kept);
    item->name = name;
    item->form.kind = delta_form_find(word_of(entry, "kind"));
    item->form.dtype = dtype_find(word_of(entry, "dtype"));
    if (!has_numbers || !is_form(&item->form) || !hash_parse(word_of(entry, "base"), &item->base) ||
        !hash_parse(word_of(entry, "fine"), &item->fine)) {
        return status_fail(TAPML_INVALID,
                           "tensor '%.200s': expected name, kind (" DELTA_WORDS
                           "), dtype, count, kept and the hashes base and fine",
                           name);
    }
    read_loss(entry, item);
    const struct checkpoint_tensor *tensor = checkpoint_find(delta->file, name);
    if (!tensor || tensor->tensor.dtype != TAPML_U8 || strcmp(name, DELTA_TENSOR) == 0) {
        return status_fail(TAPML_INVALID, "tensor '%.200s': expected U8 of that name, found %s",
                           name, tensor ? dtype_name(tensor->tensor.dtype) : "none");
    }
    item->packed = tensor->data;
    item->packed_bytes = tensor->bytes;
    return TAPML_OK;
}

static tapml_status read_items(struct delta *delta)
{
    const json_t *entries = json_object_get(delta->root, "tensors");
    const size_t count = json_array_size(entries);
    if (strcmp(word_of(delta->root, "format"), DELTA_FORMAT) != 0 || !json_is_array(entries)) {
        return status_fail(TAPML_INVALID,
                           "expected an object with format '" DELTA_FORMAT
                           "' and a list 'tensors', found format '%.99s'",
                           word_of(delta->root, "format"));
    }
    if (count + 1 != checkpoint_count(delta->file)) {
        return status_fail(TAPML_INVALID,
                           "expected %zu tensors beside '" DELTA_TENSOR "', found %zu", count,
                           checkpoint_count(delta->file) - 1);
    }
    delta->items = alloc_array(count + 1, sizeof(*delta->items));
    if (!delta->items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; ++i) {
        TAPML_TRY(read_item(delta, json_array_get(entries, i), &delta->items[i]));
        ++delta->count;
    }
    return TAPML_OK;
}

static tapml_status read_all(struct delta *delta, const char *path)
{
    TAPML_TRY(safetensors_open_file(path, &delta->file));
    const struct checkpoint_tensor *text = checkpoint_find(delta->file, DELTA_TENSOR);
    if (!text || text->tensor.dtype != TAPML_U8) {
        return status_fail(TAPML_INVALID, "expected a U8 tensor '" DELTA_TENSOR "', found %s",
                           text ? dtype_name(text->tensor.dtype) : "none");
    }
    delta->hash = hash_bytes(text->data, (size_t)text->bytes);
    TAPML_TRY(json_file_parse(DELTA_TENSOR, text->data, (size_t)text->bytes, &delta->root));
    return read_items(delta);
}

tapml_status delta_open(const char *path, struct delta **out_delta)
{
    struct delta *delta = alloc_new(sizeof(*delta));
    if (!delta) {
        return status_no_memory();
    }
    const tapml_status status = read_all(delta, path);
    if (status != TAPML_OK) {
        delta_close(delta);
        return status;
    }
    *out_delta = delta;
    return TAPML_OK;
}

void delta_close(struct delta *delta)
{
    if (!delta) {
        return;
    }
    checkpoint_close(delta->file);
    json_decref(delta->root);
    alloc_free(delta->items);
    alloc_free(delta);
}

size_t delta_count(const struct delta *delta)
{
    return delta->count;
}

const struct delta_item *delta_at(const struct delta *delta, size_t index)
{
    return index < delta->count ? &delta->items[index] : NULL;
}

// -- Applying ----------------------------------------------------------------------------------

tapml_status delta_count_values(const struct checkpoint_tensor *tensor, uint64_t *out_count)
{
    int64_t count = 0;
    if (tensor->tensor.encoding || tensor->spans || tensor->stored) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "tensor '%s': expected plain numbers, found a quantised weight",
                           tensor->name);
    }
    TAPML_TRY(shape_count(tensor->tensor.shape, tensor->tensor.rank, &count));
    *out_count = (uint64_t)count;
    return TAPML_OK;
}

uint64_t delta_count_columns(const struct checkpoint_tensor *tensor)
{
    const uint32_t rank = tensor->tensor.rank;
    return rank > 0 ? (uint64_t)tensor->tensor.shape[rank - 1] : 1;
}

static tapml_status check_base(const struct delta_item *item,
                               const struct checkpoint_tensor *tensor)
{
    uint64_t count = 0;
    if (!tensor) {
        return status_fail(TAPML_INVALID, "tensor '%s': expected a weight of the base, found none",
                           item->name);
    }
    TAPML_TRY(delta_count_values(tensor, &count));
    if (count != item->form.count || tensor->tensor.dtype != item->form.dtype ||
        !hash_equal(hash_bytes(tensor->data, (size_t)tensor->bytes), item->base)) {
        return status_fail(
            TAPML_INVALID,
            "tensor '%s': expected %llu values of %s with the hash of the base, "
            "found %llu of %s%s",
            item->name, (unsigned long long)item->form.count, dtype_name(item->form.dtype),
            (unsigned long long)count, dtype_name(tensor->tensor.dtype),
            count == item->form.count && tensor->tensor.dtype == item->form.dtype ? " with another"
                                                                                  : "");
    }
    return TAPML_OK;
}

// Makes the weight. The body is the caller's after TAPML_OK.
static tapml_status make(const struct delta_item *item,
                         const struct checkpoint_tensor *tensor,
                         void *fine,
                         void **out_body)
{
    struct delta_form form = item->form;
    form.columns = delta_count_columns(tensor); // And not what a file says.
    const uint64_t bytes = delta_codec_bytes(&form);
    void *body = alloc_raw(bytes > 0 ? (size_t)bytes : 1);
    if (!body) {
        return status_no_memory();
    }
    tapml_status status = delta_codec_unpack(item->packed, item->packed_bytes, body, bytes);
    if (status == TAPML_OK) {
        status = delta_codec_apply(&form, tensor->data, body, fine);
    }
    if (status == TAPML_OK && !hash_equal(hash_bytes(fine, (size_t)tensor->bytes), item->fine)) {
        status = status_fail(TAPML_INVALID, "expected bytes with the hash of the fine-tune, found "
                                            "others");
    }
    if (status != TAPML_OK) {
        alloc_free(body);
        return status_explain(status, "tensor '%s'", item->name);
    }
    *out_body = body;
    return TAPML_OK;
}

tapml_status
delta_check(const struct delta_item *item, const struct checkpoint_tensor *tensor, void **out_body)
{
    TAPML_TRY(check_base(item, tensor));
    void *fine = alloc_raw(tensor->bytes > 0 ? (size_t)tensor->bytes : 1);
    const tapml_status status = fine ? make(item, tensor, fine, out_body) : status_no_memory();
    alloc_free(fine);
    return status;
}

void delta_release_body(void *body)
{
    alloc_free(body);
}

struct hash delta_hash(const struct delta *delta)
{
    return delta->hash;
}

tapml_status delta_apply_item(const struct delta_item *item, struct checkpoint *checkpoint)
{
    void *body = NULL;
    const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, item->name);
    TAPML_TRY(check_base(item, tensor));
    void *fine = checkpoint_copy(checkpoint, tensor->bytes > 0 ? tensor->bytes : ALIGN, ALIGN);
    if (!fine) {
        return status_no_memory();
    }
    TAPML_TRY(make(item, tensor, fine, &body));
    alloc_free(body);
    checkpoint_leave(checkpoint, tensor);
    checkpoint_set_data(checkpoint, item->name, fine);
    return TAPML_OK;
}

tapml_status delta_apply(const struct delta *delta, struct checkpoint *checkpoint)
{
    for (size_t i = 0; i < delta->count; ++i) {
        TAPML_TRY(delta_apply_item(&delta->items[i], checkpoint));
    }
    checkpoint_set_change(checkpoint, delta->hash);
    return TAPML_OK;
}

tapml_status delta_join(const char *path, struct checkpoint *checkpoint)
{
    struct delta *delta = NULL;
    tapml_status status = delta_open(path, &delta);
    if (status == TAPML_OK) {
        status = delta_apply(delta, checkpoint);
    }
    delta_close(delta);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "delta '%s'", path);
}
