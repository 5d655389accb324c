// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_file.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/utf8.h"
#include "tensor/shape.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAGIC_BYTES = 4,
    VERSION_MIN = 2,
    VERSION_MAX = 3,
    NAME_BYTES_MAX = 65535,
    ALIGNMENT_DEFAULT = 32,
    ALIGNMENT_MAX = 1 << 20,
    VALUE_BYTES_MIN = 8 + 1 + 4 + 1,          // A key of one byte, a type, a byte.
    TENSOR_BYTES_MIN = 8 + 1 + 4 + 0 + 4 + 8, // A name of one byte, a scalar.
};

struct gguf_file {
    struct arena *arena;
    const char *path;
    struct file_map map;
    struct gguf_value *values;
    size_t value_count;
    struct gguf_file_tensor *tensors;
    size_t tensor_count;
    uint64_t header_bytes;
};

// What is left of the file.
struct gguf_cursor {
    struct gguf_file *file;
    const unsigned char *at, *end;
    const char *kind, *name; // What is being read, for messages: "key", "a.b".
};

// -- Plain reading -----------------------------------------------------------------------------

static size_t left(const struct gguf_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static tapml_status take(struct gguf_cursor *cursor, uint64_t bytes, const unsigned char **out_data)
{
    if (bytes > left(cursor)) {
        return status_fail(TAPML_INVALID, "%s: %s '%.128s': expected %llu more bytes, found %zu",
                           cursor->file->path, cursor->kind, cursor->name,
                           (unsigned long long)bytes, left(cursor));
    }
    *out_data = cursor->at;
    cursor->at += bytes;
    return TAPML_OK;
}

static tapml_status take_u32(struct gguf_cursor *cursor, uint32_t *out_value)
{
    const unsigned char *data = NULL;
    TAPML_TRY(take(cursor, sizeof(*out_value), &data));
    *out_value = gguf_value_u32(data);
    return TAPML_OK;
}

static tapml_status take_u64(struct gguf_cursor *cursor, uint64_t *out_value)
{
    const unsigned char *data = NULL;
    TAPML_TRY(take(cursor, sizeof(*out_value), &data));
    *out_value = gguf_value_u64(data);
    return TAPML_OK;
}

// Takes a count of things that have at least `bytes_min` bytes each.
static tapml_status take_count(struct gguf_cursor *cursor, size_t bytes_min, uint64_t *out_count)
{
    uint64_t count = 0;
    TAPML_TRY(take_u64(cursor, &count));
    if (count > left(cursor) / bytes_min) {
        return status_fail(TAPML_INVALID,
                           "%s: %s '%.128s': expected at most %zu items, as the file is %zu bytes "
                           "long, found %llu",
                           cursor->file->path, cursor->kind, cursor->name, left(cursor) / bytes_min,
                           cursor->file->map.size, (unsigned long long)count);
    }
    *out_count = count;
    return TAPML_OK;
}

static int is_name(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        if (bytes[i] < 0x20 || bytes[i] == 0x7f) {
            return 0;
        }
    }
    return length > 0 && utf8_is_valid(bytes, length);
}

// Takes the name of a key or a tensor; `number` is its place among them.
static tapml_status
take_name(struct gguf_cursor *cursor, const char *kind, uint64_t number, const char **out_name)
{
    uint64_t length = 0;
    const unsigned char *bytes = NULL;
    cursor->kind = kind;
    cursor->name = "";
    TAPML_TRY(take_u64(cursor, &length));
    if (length > NAME_BYTES_MAX) {
        return status_fail(TAPML_INVALID,
                           "%s: %s %llu: expected a name of at most %d bytes, found %llu",
                           cursor->file->path, kind, (unsigned long long)number, NAME_BYTES_MAX,
                           (unsigned long long)length);
    }
    TAPML_TRY(take(cursor, length, &bytes));
    if (!is_name(bytes, (size_t)length)) {
        return status_fail(TAPML_INVALID,
                           "%s: %s %llu: expected a name in UTF-8 without control characters",
                           cursor->file->path, kind, (unsigned long long)number);
    }
    char *name = arena_new(cursor->file->arena, (size_t)length + 1);
    if (!name) {
        return status_no_memory();
    }
    memcpy(name, bytes, (size_t)length);
    *out_name = cursor->name = name;
    return TAPML_OK;
}

// -- Metadata ----------------------------------------------------------------------------------

static tapml_status fail_type(const struct gguf_cursor *cursor, const char *key, uint32_t type)
{
    return status_fail(TAPML_INVALID,
                       "%s: key '%.128s': expected a type of value below %d, found %u",
                       cursor->file->path, key, (int)GGUF_VALUE_TYPES, type);
}

// Takes the length of an array and the type of its items.
static tapml_status take_array(struct gguf_cursor *cursor, struct gguf_value *value)
{
    uint32_t type = 0;
    TAPML_TRY(take_u32(cursor, &type));
    if (type >= GGUF_VALUE_TYPES) {
        return fail_type(cursor, value->key, type);
    }
    if (type == GGUF_ARRAY) {
        return status_fail(TAPML_INVALID, "%s: key '%.128s': arrays of arrays are unsupported",
                           cursor->file->path, value->key);
    }
    const size_t bytes = gguf_value_item_bytes(type);
    value->is_array = 1;
    value->type = (enum gguf_value_type)type;
    return take_count(cursor, bytes > 0 ? bytes : sizeof(uint64_t), &value->count);
}

static tapml_status skip_items(struct gguf_cursor *cursor, const struct gguf_value *value)
{
    const unsigned char *data = NULL;
    const size_t bytes = gguf_value_item_bytes(value->type);
    if (bytes > 0) {
        return take(cursor, value->count * bytes, &data);
    }
    for (uint64_t i = 0; i < value->count; ++i) {
        uint64_t length = 0;
        TAPML_TRY(take_u64(cursor, &length));
        TAPML_TRY(take(cursor, length, &data));
    }
    return TAPML_OK;
}

static tapml_status check_booleans(const struct gguf_cursor *cursor, const struct gguf_value *value)
{
    for (uint64_t i = 0; value->type == GGUF_BOOL && i < value->count; ++i) {
        if (value->data[i] > 1) {
            return status_fail(TAPML_INVALID,
                               "%s: key '%.128s': expected a bool of 0 or 1, found %u",
                               cursor->file->path, value->key, (unsigned)value->data[i]);
        }
    }
    return TAPML_OK;
}

static tapml_status
take_value(struct gguf_cursor *cursor, uint64_t number, struct gguf_value *out_value)
{
    uint32_t type = 0;
    struct gguf_value value = {.count = 1};
    TAPML_TRY(take_name(cursor, "key", number, &value.key));
    TAPML_TRY(take_u32(cursor, &type));
    if (type >= GGUF_VALUE_TYPES) {
        return fail_type(cursor, value.key, type);
    }
    value.type = (enum gguf_value_type)type;
    if (type == GGUF_ARRAY) {
        TAPML_TRY(take_array(cursor, &value));
    }
    value.data = cursor->at;
    TAPML_TRY(skip_items(cursor, &value));
    TAPML_TRY(check_booleans(cursor, &value));
    *out_value = value;
    return TAPML_OK;
}

static int compare_values(const void *a, const void *b)
{
    return strcmp(((const struct gguf_value *)a)->key, ((const struct gguf_value *)b)->key);
}

static tapml_status take_values(struct gguf_cursor *cursor, uint64_t count)
{
    struct gguf_file *file = cursor->file;
    file->values = alloc_array((size_t)count + 1, sizeof(*file->values));
    if (!file->values) {
        return status_no_memory();
    }
    for (uint64_t i = 0; i < count; ++i) {
        TAPML_TRY(take_value(cursor, i, &file->values[i]));
        ++file->value_count;
    }
    qsort(file->values, file->value_count, sizeof(*file->values), compare_values);
    for (size_t i = 1; i < file->value_count; ++i) {
        if (strcmp(file->values[i - 1].key, file->values[i].key) == 0) {
            return status_fail(TAPML_INVALID, "%s: key '%.128s' is there twice", file->path,
                               file->values[i].key);
        }
    }
    return TAPML_OK;
}

// -- Tensors -----------------------------------------------------------------------------------

static tapml_status take_shape(struct gguf_cursor *cursor, struct gguf_file_tensor *tensor)
{
    const char *path = cursor->file->path;
    TAPML_TRY(take_u32(cursor, &tensor->rank));
    if (tensor->rank > GGUF_FILE_RANK_MAX) {
        return status_fail(TAPML_INVALID, "%s: tensor '%.128s': expected at most %d axes, found %u",
                           path, tensor->name, GGUF_FILE_RANK_MAX, tensor->rank);
    }
    for (uint32_t i = tensor->rank; i-- > 0;) {
        uint64_t extent = 0;
        TAPML_TRY(take_u64(cursor, &extent));
        if (extent > INT64_MAX) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%.128s': expected an extent of 63 bits, found %llu",
                               path, tensor->name, (unsigned long long)extent);
        }
        tensor->shape[i] = (int64_t)extent;
    }
    return TAPML_OK;
}

static tapml_status take_type(struct gguf_cursor *cursor, struct gguf_file_tensor *tensor)
{
    uint32_t number = 0;
    TAPML_TRY(take_u32(cursor, &number));
    tensor->type = gguf_type_find(number);
    return tensor->type
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: tensor '%.128s': expected the number of a type, found %u",
                             cursor->file->path, tensor->name, number);
}

// The bytes that follow from type and shape.
static tapml_status count_bytes(const struct gguf_file *file, struct gguf_file_tensor *tensor)
{
    const struct gguf_type *type = tensor->type;
    const int64_t row = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    int64_t count = 0;
    const tapml_status status = shape_count(tensor->shape, tensor->rank, &count);
    if (status != TAPML_OK) {
        return status_explain(status, "%s: tensor '%.128s'", file->path, tensor->name);
    }
    if (row % type->block_values != 0) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected rows of blocks of %u values as its type "
                           "is %s, found %lld values",
                           file->path, tensor->name, type->block_values, type->name,
                           (long long)row);
    }
    if (__builtin_mul_overflow((uint64_t)count / type->block_values, (uint64_t)type->block_bytes,
                               &tensor->bytes)) {
        return status_fail(TAPML_INVALID, "%s: tensor '%.128s' is too large", file->path,
                           tensor->name);
    }
    return TAPML_OK;
}

static tapml_status
take_tensor(struct gguf_cursor *cursor, uint64_t number, struct gguf_file_tensor *out_tensor)
{
    struct gguf_file_tensor tensor = {.rank = 0};
    TAPML_TRY(take_name(cursor, "tensor", number, &tensor.name));
    TAPML_TRY(take_shape(cursor, &tensor));
    TAPML_TRY(take_type(cursor, &tensor));
    TAPML_TRY(take_u64(cursor, &tensor.offset));
    TAPML_TRY(count_bytes(cursor->file, &tensor));
    *out_tensor = tensor;
    return TAPML_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct gguf_file_tensor *x = a;
    const struct gguf_file_tensor *y = b;
    return strcmp(x->name, y->name);
}

static int compare_offsets(const void *a, const void *b)
{
    const struct gguf_file_tensor *x = a;
    const struct gguf_file_tensor *y = b;
    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

// Makes the offset one of the file.
static tapml_status
place(const struct gguf_file *file, uint64_t alignment, struct gguf_file_tensor *tensor)
{
    const uint64_t bytes = file->map.size - file->header_bytes;
    if (tensor->offset % alignment != 0) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected an offset that is a multiple of %llu, "
                           "found %llu",
                           file->path, tensor->name, (unsigned long long)alignment,
                           (unsigned long long)tensor->offset);
    }
    if (tensor->offset > bytes || tensor->bytes > bytes - tensor->offset) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected its %llu bytes from %llu on within the "
                           "%llu of the file's data",
                           file->path, tensor->name, (unsigned long long)tensor->bytes,
                           (unsigned long long)tensor->offset, (unsigned long long)bytes);
    }
    tensor->offset += file->header_bytes;
    return TAPML_OK;
}

static tapml_status check_overlaps(struct gguf_file *file)
{
    struct gguf_file_tensor *tensors = file->tensors;
    qsort(tensors, file->tensor_count, sizeof(*tensors), compare_offsets);
    for (size_t i = 1; i < file->tensor_count; ++i) {
        const struct gguf_file_tensor *before = &tensors[i - 1];
        if (before->offset + before->bytes > tensors[i].offset) {
            return status_fail(TAPML_INVALID, "%s: tensors '%.128s' and '%.128s' overlap",
                               file->path, before->name, tensors[i].name);
        }
    }
    return TAPML_OK;
}

static tapml_status check_names(struct gguf_file *file)
{
    qsort(file->tensors, file->tensor_count, sizeof(*file->tensors), compare_names);
    for (size_t i = 1; i < file->tensor_count; ++i) {
        if (strcmp(file->tensors[i - 1].name, file->tensors[i].name) == 0) {
            return status_fail(TAPML_INVALID, "%s: tensor '%.128s' is there twice", file->path,
                               file->tensors[i].name);
        }
    }
    return TAPML_OK;
}

static tapml_status find_alignment(const struct gguf_file *file, uint64_t *out_alignment)
{
    const struct gguf_value *value = gguf_file_find(file, "general.alignment");
    int64_t alignment = ALIGNMENT_DEFAULT;
    const int is_read = !value || (!value->is_array && gguf_value_integer(value, 0, &alignment));
    if (!is_read || alignment < 8 || alignment > ALIGNMENT_MAX ||
        (alignment & (alignment - 1)) != 0) {
        return status_fail(TAPML_INVALID,
                           "%s: key 'general.alignment': expected a power of two, 8 .. %d, found "
                           "%lld",
                           file->path, ALIGNMENT_MAX, (long long)(is_read ? alignment : -1));
    }
    *out_alignment = (uint64_t)alignment;
    return TAPML_OK;
}

static tapml_status take_tensors(struct gguf_cursor *cursor, uint64_t count)
{
    struct gguf_file *file = cursor->file;
    uint64_t alignment = 0;
    TAPML_TRY(find_alignment(file, &alignment));
    file->tensors = alloc_array((size_t)count + 1, sizeof(*file->tensors));
    if (!file->tensors) {
        return status_no_memory();
    }
    for (uint64_t i = 0; i < count; ++i) {
        TAPML_TRY(take_tensor(cursor, i, &file->tensors[i]));
        ++file->tensor_count;
    }
    const uint64_t read = file->map.size - left(cursor);
    const uint64_t header_bytes = (read + alignment - 1) / alignment * alignment;
    // Without a tensor a file may end with its header.
    file->header_bytes = header_bytes < file->map.size ? header_bytes : file->map.size;
    for (size_t i = 0; i < file->tensor_count; ++i) {
        TAPML_TRY(place(file, alignment, &file->tensors[i]));
    }
    TAPML_TRY(check_overlaps(file));
    return check_names(file);
}

// -- The file ----------------------------------------------------------------------------------

static tapml_status check_version(const struct gguf_cursor *cursor, uint32_t version)
{
    const char *path = cursor->file->path;
    if (version != 0 && (version & 0xffff) == 0) {
        return status_fail(TAPML_INVALID,
                           "%s: GGUF with the highest byte of a number first is unsupported", path);
    }
    return version >= VERSION_MIN && version <= VERSION_MAX
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: expected GGUF of version %d or %d, found %u", path,
                             VERSION_MIN, VERSION_MAX, version);
}

static tapml_status read_all(struct gguf_file *file)
{
    const unsigned char *magic = NULL;
    uint32_t version = 0;
    uint64_t tensor_count = 0;
    uint64_t value_count = 0;
    // An empty file has no memory to point to.
    if (file->map.size < MAGIC_BYTES || memcmp(file->map.data, "GGUF", MAGIC_BYTES) != 0) {
        return status_fail(TAPML_INVALID, "%s: expected a GGUF file, found another", file->path);
    }
    struct gguf_cursor cursor = {
        .file = file,
        .at = file->map.data,
        .end = file->map.data + file->map.size,
        .kind = "header",
        .name = "version",
    };
    TAPML_TRY(take(&cursor, MAGIC_BYTES, &magic));
    TAPML_TRY(take_u32(&cursor, &version));
    TAPML_TRY(check_version(&cursor, version));
    cursor.name = "number of tensors";
    TAPML_TRY(take_count(&cursor, TENSOR_BYTES_MIN, &tensor_count));
    cursor.name = "number of keys";
    TAPML_TRY(take_count(&cursor, VALUE_BYTES_MIN, &value_count));
    TAPML_TRY(take_values(&cursor, value_count));
    return take_tensors(&cursor, tensor_count);
}

tapml_status gguf_file_open(const char *path, struct gguf_file **out_file)
{
    struct gguf_file *file = alloc_new(sizeof(*file));
    if (!file) {
        return status_no_memory();
    }
    file->arena = arena_create();
    file->path = file->arena ? arena_text(file->arena, path) : NULL;
    tapml_status status = file->path ? file_map(path, &file->map) : status_no_memory();
    if (status == TAPML_OK) {
        status = read_all(file);
    }
    if (status != TAPML_OK) {
        gguf_file_close(file);
        return status;
    }
    *out_file = file;
    return TAPML_OK;
}

void gguf_file_close(struct gguf_file *file)
{
    if (file) {
        file_unmap(&file->map);
        alloc_free(file->values);
        alloc_free(file->tensors);
        arena_destroy(file->arena);
        alloc_free(file);
    }
}

const char *gguf_file_path(const struct gguf_file *file)
{
    return file->path;
}

struct file_map gguf_file_map(const struct gguf_file *file)
{
    return file->map;
}

struct file_map *gguf_file_own_map(struct gguf_file *file)
{
    return &file->map;
}

uint64_t gguf_file_header_bytes(const struct gguf_file *file)
{
    return file->header_bytes;
}

const struct gguf_value *gguf_file_find(const struct gguf_file *file, const char *key)
{
    const struct gguf_value wanted = {.key = key};
    return file->value_count > 0 ? bsearch(&wanted, file->values, file->value_count,
                                           sizeof(*file->values), compare_values)
                                 : NULL;
}

size_t gguf_file_value_count(const struct gguf_file *file)
{
    return file->value_count;
}

const struct gguf_value *gguf_file_value_at(const struct gguf_file *file, size_t index)
{
    return index < file->value_count ? &file->values[index] : NULL;
}

size_t gguf_file_tensor_count(const struct gguf_file *file)
{
    return file->tensor_count;
}

const struct gguf_file_tensor *gguf_file_tensor_at(const struct gguf_file *file, size_t index)
{
    return index < file->tensor_count ? &file->tensors[index] : NULL;
}
