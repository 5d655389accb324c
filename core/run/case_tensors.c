// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_tensors.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "model/safetensors_writer.h"
#include "store/case.h"
#include "tensor/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX_BYTES = 8, ALIGN = 8, SIZES = 4, KEY = 32 };

// Where the bytes of a tensor are, among those whose elements have the same size.
struct tensor_place {
    json_t *entry; // Of the header.
    int size;
    uint64_t begin, bytes;
};

// The format allows no gaps, so that larger elements come first: each is at a multiple of its size.
struct case_tensors {
    json_t *header, *metadata;
    struct text data[SIZES]; // Elements of 8, 4, 2 and 1 bytes.
    struct tensor_place *placed;
    size_t count, capacity;
};

tapml_status case_tensors_create(struct case_tensors **out_tensors)
{
    struct case_tensors *tensors = alloc_new(sizeof(*tensors));

    if (tensors == NULL) {
        return status_no_memory();
    }
    for (int i = 0; i < SIZES; i++) {
        text_init(&tensors->data[i]);
    }
    tensors->header = json_object();
    tensors->metadata = json_pack("{s:s}", "format", "tapml-cases/1");
    if (json_object_set(tensors->header, "__metadata__", tensors->metadata) != 0) {
        case_tensors_destroy(tensors);
        return status_no_memory();
    }
    *out_tensors = tensors;
    return TAPML_OK;
}

void case_tensors_destroy(struct case_tensors *tensors)
{
    if (tensors != NULL) {
        json_decref(tensors->header);
        json_decref(tensors->metadata);
        for (int i = 0; i < SIZES; i++) {
            text_release(&tensors->data[i]);
        }
        alloc_free(tensors->placed);
        alloc_free(tensors);
    }
}

static int find_size(uint32_t dtype)
{
    const size_t bytes = dtype_bytes(dtype);

    return bytes == 8 ? 0 : bytes == 4 ? 1 : bytes == 2 ? 2 : 3;
}

static tapml_status place(struct case_tensors *tensors, json_t *entry, int size, uint64_t bytes)
{
    void *placed = tensors->placed;

    if (!alloc_grow(&placed, &tensors->capacity, tensors->count, sizeof(*tensors->placed))) {
        return status_no_memory();
    }
    tensors->placed = placed;
    tensors->placed[tensors->count++] = (struct tensor_place){
        .entry = entry, .size = size, .begin = tensors->data[size].length, .bytes = bytes};
    return TAPML_OK;
}

// Adds the bytes of an array, and what the header says of it but for the place of its bytes.
static tapml_status
add_bytes(struct case_tensors *tensors, const struct case_export_array *array, const char *name)
{
    const char *type = safetensors_writer_type(array->dtype);
    const int size = find_size(array->dtype);
    uint64_t bytes = dtype_bytes(array->dtype);

    if (type == NULL) {
        return status_fail(TAPML_INVALID, "%.100s: safetensors have no type for dtype '%s'",
                           array->argument->name, dtype_name(array->dtype));
    }
    json_t *shape = json_array();
    json_t *entry = json_pack("{s:s, s:o}", "dtype", type, "shape", shape);

    for (uint32_t i = 0; i < array->rank; i++) {
        bytes *= (uint64_t)array->shape[i];
        (void)json_array_append_new(shape, json_integer(array->shape[i]));
    }
    if (json_object_get(tensors->header, name) != NULL) { // Its entry has a place already.
        json_decref(entry);
        return status_fail(TAPML_INVALID, "two tensors have the name '%.60s'", name);
    }
    if (json_object_set_new(tensors->header, name, entry) != 0) {
        return status_fail(TAPML_INVALID, "'%.60s' cannot be the name of a tensor", name);
    }
    TAPML_TRY(place(tensors, entry, size, bytes));
    text_append_bytes(&tensors->data[size], array->data, bytes);
    return text_status(&tensors->data[size]);
}

static tapml_status take_array(void *user,
                               const struct case_export *export_,
                               const struct case_export_array *array,
                               char out_name[CASE_EXPORT_NAME])
{
    struct case_tensors *tensors = user;
    const int length =
        array->is_weight
            ? snprintf(out_name, CASE_EXPORT_NAME, "weight/%s", array->argument->origin)
            : snprintf(out_name, CASE_EXPORT_NAME, "%" PRId64 "/%s.%s", export_->item->id,
                       array->argument->name, array->when);

    if (length >= CASE_EXPORT_NAME) {
        return status_fail(TAPML_INVALID, "the name '%.60s...' is too long for a tensor", out_name);
    }
    return array->is_weight && json_object_get(tensors->header, out_name) != NULL
               ? TAPML_OK
               : add_bytes(tensors, array, out_name);
}

tapml_status case_tensors_add(struct case_tensors *tensors, const struct case_export *export_)
{
    json_t *document = NULL;
    struct text text;
    char key[KEY];

    (void)snprintf(key, sizeof(key), "case.%" PRId64, export_->item->id);
    if (json_object_get(tensors->metadata, key) != NULL) {
        return status_fail(TAPML_INVALID, "case %" PRId64 " is named twice", export_->item->id);
    }
    TAPML_TRY(case_export_describe(export_, take_array, tensors, &document));
    text_init(&text);
    json_file_print(&text, document, JSON_COMPACT);
    json_decref(document);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK &&
        json_object_set_new(tensors->metadata, key, json_string(text.data)) != 0) {
        status = status_fail(TAPML_INVALID,
                             "case %" PRId64 " has names that are no UTF-8, as a file of "
                             "safetensors needs them",
                             export_->item->id);
    }
    text_release(&text);
    return status;
}

static tapml_status put_places(struct case_tensors *tensors)
{
    uint64_t begins[SIZES] = {0};

    for (int i = 1; i < SIZES; i++) {
        begins[i] = begins[i - 1] + tensors->data[i - 1].length;
    }
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor_place *placed = &tensors->placed[i];
        const uint64_t begin = begins[placed->size] + placed->begin;
        json_t *offsets =
            json_pack("[I, I]", (json_int_t)begin, (json_int_t)begin + (json_int_t)placed->bytes);

        if (json_object_set_new(placed->entry, "data_offsets", offsets) != 0) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

// Blanks behind the header let the first tensor begin at a multiple of 8.
static void print_file(const struct case_tensors *tensors, struct text *out)
{
    char prefix[PREFIX_BYTES] = {0};

    text_append_bytes(out, prefix, PREFIX_BYTES);
    json_file_print(out, tensors->header, JSON_COMPACT);
    while (out->length % ALIGN != 0 && !out->failed) {
        text_append(out, " ");
    }
    for (int i = 0; i < PREFIX_BYTES && !out->failed; i++) {
        out->data[i] = (char)((out->length - PREFIX_BYTES) >> 8 * i & 0xff);
    }
    for (int i = 0; i < SIZES; i++) {
        text_append_bytes(out, tensors->data[i].data, tensors->data[i].length);
    }
}

tapml_status case_tensors_write(struct case_tensors *tensors, const char *path)
{
    struct text whole;

    TAPML_TRY(put_places(tensors));
    text_init(&whole);
    print_file(tensors, &whole);
    tapml_status status = text_status(&whole);

    status = status == TAPML_OK ? file_write(path, whole.data, whole.length) : status;
    text_release(&whole);
    return status;
}
