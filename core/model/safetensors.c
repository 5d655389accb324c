// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/safetensors.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/descriptors.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/table.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <stdlib.h>
#include <string.h>

enum {
    PREFIX_BYTES = 8,
    HEADER_BYTES_MAX = 100000000,
    SHARD_COUNT_MAX = 4096,
};

static const char single_name[] = "model.safetensors";
static const char index_name[] = "model.safetensors.index.json";

// What is being read: for messages, and to find the data.
struct reader {
    struct checkpoint *checkpoint;
    const char *path;
    const char *name;          // The file's, without its folder.
    const unsigned char *data; // Behind the header.
    uint64_t data_bytes;
};

// Where a tensor of one shard lies in its data.
struct extent {
    uint64_t begin, end;
    const char *name;
};

// The types of the format. Those without a dtype are bytes here, and keep their name.
static const struct stored_type {
    const char *name;
    uint32_t dtype;
    int is_stored;
} stored_types[] = {
    {"F64", TAPML_F64, 0},    {"F32", TAPML_F32, 0},    {"F16", TAPML_F16, 0},
    {"BF16", TAPML_BF16, 0},  {"I64", TAPML_I64, 0},    {"I32", TAPML_I32, 0},
    {"U8", TAPML_U8, 0},      {"BOOL", TAPML_U8, 0},    {"F8_E4M3", TAPML_U8, 1},
    {"F8_E5M2", TAPML_U8, 1}, {"F8_E8M0", TAPML_U8, 1}, {"I8", TAPML_U8, 1},
};

static const struct stored_type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof(stored_types) / sizeof(stored_types[0]); ++i) {
        if (strcmp(stored_types[i].name, name) == 0) {
            return &stored_types[i];
        }
    }
    return NULL;
}

static tapml_status check_name(const struct reader *reader, const char *name)
{
    for (const char *at = name; *at; ++at) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            return status_fail(TAPML_INVALID, "%s: a tensor's name has a control character",
                               reader->path);
        }
    }
    if (!*name) {
        return status_fail(TAPML_INVALID, "%s: a tensor has no name", reader->path);
    }
    return TAPML_OK;
}

static tapml_status
read_dtype(const struct reader *reader, const json_t *entry, struct checkpoint_tensor *out_tensor)
{
    const char *name = json_string_value(json_object_get(entry, "dtype"));
    if (!name) {
        return status_fail(TAPML_INVALID, "%s: tensor '%s' has no 'dtype'", reader->path,
                           out_tensor->name);
    }
    const struct stored_type *type = find_type(name);
    if (!type) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected dtype F64, F32, F16, BF16, I64, I32, U8, "
                           "BOOL, F8_E4M3, F8_E5M2, F8_E8M0 or I8, found '%s'",
                           reader->path, out_tensor->name, name);
    }
    out_tensor->tensor.dtype = type->dtype;
    out_tensor->stored = type->is_stored ? type->name : NULL;
    return TAPML_OK;
}

static tapml_status
read_shape(const struct reader *reader, const json_t *entry, struct checkpoint_tensor *out_tensor)
{
    const json_t *extents = json_object_get(entry, "shape");
    const size_t rank = json_array_size(extents);
    if (!json_is_array(extents) || rank > TAPML_MAX_RANK) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected a shape of at most %u extents, found %zu",
                           reader->path, out_tensor->name, TAPML_MAX_RANK, rank);
    }
    int64_t *shape = arena_array(checkpoint_arena(reader->checkpoint), rank, sizeof(*shape));
    if (!shape) {
        return status_no_memory();
    }
    for (size_t i = 0; i < rank; ++i) {
        const json_t *extent = json_array_get(extents, i);
        if (!json_is_integer(extent)) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%s': expected whole numbers as its shape", reader->path,
                               out_tensor->name);
        }
        shape[i] = json_integer_value(extent);
    }
    out_tensor->tensor.rank = (uint32_t)rank;
    out_tensor->tensor.shape = rank > 0 ? shape : NULL;
    return TAPML_OK;
}

static tapml_status read_bytes(const struct reader *reader, struct checkpoint_tensor *out_tensor)
{
    int64_t count = 0;
    int64_t bytes = 0;
    const tapml_tensor *tensor = &out_tensor->tensor;
    const tapml_status status = shape_count(tensor->shape, tensor->rank, &count);
    if (status != TAPML_OK) {
        return status_explain(status, "%s: tensor '%s'", reader->path, out_tensor->name);
    }
    if (__builtin_mul_overflow(count, (int64_t)dtype_bytes(tensor->dtype), &bytes)) {
        return status_fail(TAPML_INVALID, "%s: tensor '%s' is too large", reader->path,
                           out_tensor->name);
    }
    out_tensor->bytes = (uint64_t)bytes;
    return TAPML_OK;
}

static tapml_status read_extent(const struct reader *reader,
                                const json_t *entry,
                                const struct checkpoint_tensor *tensor,
                                struct extent *out_extent)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0);
    const json_t *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end)) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected two whole numbers as 'data_offsets'",
                           reader->path, tensor->name);
    }
    const json_int_t from = json_integer_value(begin);
    const json_int_t to = json_integer_value(end);
    if (from < 0 || from > to || (uint64_t)to > reader->data_bytes) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected offsets within 0 .. %llu, found %lld .. %lld",
                           reader->path, tensor->name, (unsigned long long)reader->data_bytes,
                           (long long)from, (long long)to);
    }
    if ((uint64_t)(to - from) != tensor->bytes) {
        char shape[128];
        shape_text(tensor->tensor.shape, tensor->tensor.rank, shape, sizeof(shape));
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected %llu bytes for %s %s, found %lld",
                           reader->path, tensor->name, (unsigned long long)tensor->bytes,
                           dtype_name(tensor->tensor.dtype), shape, (long long)(to - from));
    }
    *out_extent = (struct extent){(uint64_t)from, (uint64_t)to, tensor->name};
    return TAPML_OK;
}

static tapml_status add_tensor(const struct reader *reader,
                               const char *name,
                               const json_t *entry,
                               struct extent *out_extent)
{
    struct checkpoint *checkpoint = reader->checkpoint;
    TAPML_TRY(check_name(reader, name));
    struct checkpoint_tensor tensor = {
        .name = arena_text(checkpoint_arena(checkpoint), name),
        .tensor = {.hdr = TAPML_HDR(tapml_tensor)},
        .file = reader->name,
    };
    if (!tensor.name) {
        return status_no_memory();
    }
    TAPML_TRY(read_dtype(reader, entry, &tensor));
    TAPML_TRY(read_shape(reader, entry, &tensor));
    TAPML_TRY(read_bytes(reader, &tensor));
    TAPML_TRY(read_extent(reader, entry, &tensor, out_extent));
    tensor.data = reader->data + out_extent->begin;
    return checkpoint_add_tensor(checkpoint, &tensor);
}

static int compare_extents(const void *a, const void *b)
{
    const struct extent *x = a;
    const struct extent *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return x->end < y->end ? -1 : x->end > y->end;
}

// The tensors lie one after another, from the first byte to the last.
static tapml_status check_extents(const struct reader *reader, struct extent *extents, size_t count)
{
    uint64_t covered = 0;
    qsort(extents, count, sizeof(*extents), compare_extents);
    for (size_t i = 0; i < count; ++i) {
        if (extents[i].begin != covered) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%s': expected its data to begin at %llu, found %llu "
                               "(%s)",
                               reader->path, extents[i].name, (unsigned long long)covered,
                               (unsigned long long)extents[i].begin,
                               extents[i].begin < covered ? "tensors overlap" : "a gap");
        }
        covered = extents[i].end;
    }
    if (covered != reader->data_bytes) {
        return status_fail(TAPML_INVALID, "%s: expected %llu bytes of data, found %llu",
                           reader->path, (unsigned long long)covered,
                           (unsigned long long)reader->data_bytes);
    }
    return TAPML_OK;
}

static tapml_status read_tensors(const struct reader *reader, json_t *header)
{
    struct extent *extents = alloc_array(json_object_size(header), sizeof(*extents));
    if (!extents) {
        return status_no_memory();
    }
    tapml_status status = TAPML_OK;
    size_t count = 0;
    const char *name = NULL;
    json_t *entry = NULL;
    json_object_foreach(header, name, entry)
    {
        if (status == TAPML_OK && strcmp(name, "__metadata__") != 0) {
            status = add_tensor(reader, name, entry, &extents[count++]);
        }
    }
    if (status == TAPML_OK) {
        status = check_extents(reader, extents, count);
    }
    alloc_free(extents);
    return status;
}

static tapml_status read_header_size(struct reader *reader, const struct file_map *map)
{
    if (map->size < PREFIX_BYTES) {
        return status_fail(TAPML_INVALID, "%s: expected at least 8 bytes, found %zu", reader->path,
                           map->size);
    }
    uint64_t header_bytes = 0;
    for (unsigned i = 0; i < PREFIX_BYTES; ++i) {
        header_bytes |= (uint64_t)map->data[i] << (8 * i);
    }
    if (header_bytes > HEADER_BYTES_MAX || header_bytes > map->size - PREFIX_BYTES) {
        return status_fail(TAPML_INVALID,
                           "%s: expected a header within the %zu bytes of the file and at most %d "
                           "bytes long, found %llu",
                           reader->path, map->size, HEADER_BYTES_MAX,
                           (unsigned long long)header_bytes);
    }
    reader->data = map->data + PREFIX_BYTES + header_bytes;
    reader->data_bytes = map->size - PREFIX_BYTES - header_bytes;
    return TAPML_OK;
}

static tapml_status read_header(struct reader *reader, const struct file_map *map)
{
    json_t *header = NULL;
    const char *text = (const char *)map->data + PREFIX_BYTES;
    const size_t bytes = map->size - PREFIX_BYTES - (size_t)reader->data_bytes;
    TAPML_TRY(json_file_parse(reader->path, text, bytes, &header));
    tapml_status status = TAPML_OK;
    if (json_is_object(header)) {
        checkpoint_set_header(reader->checkpoint, PREFIX_BYTES, bytes);
        status = read_tensors(reader, header);
    } else {
        status = status_fail(TAPML_INVALID, "%s: expected an object as header", reader->path);
    }
    json_decref(header);
    return status;
}

static tapml_status add_shard(struct checkpoint *checkpoint, const char *path, const char *name)
{
    struct file_map map;
    struct reader reader = {.checkpoint = checkpoint,
                            .path = path,
                            .name = arena_text(checkpoint_arena(checkpoint), name)};
    if (!reader.name) {
        return status_no_memory();
    }
    TAPML_TRY(file_map(path, &map));
    const struct file_map mapped = map;
    tapml_status status = checkpoint_add_file(checkpoint, name, &map);
    if (status != TAPML_OK) {
        file_unmap(&map);
        return status;
    }
    TAPML_TRY(read_header_size(&reader, &mapped));
    return read_header(&reader, &mapped);
}

static tapml_status
add_shard_of_folder(struct checkpoint *checkpoint, const char *folder, const char *name)
{
    if (!*name || strchr(name, '/') || strcmp(name, "..") == 0 || strcmp(name, ".") == 0) {
        return status_fail(TAPML_INVALID, "%s/%s: expected the plain name of a shard, found '%s'",
                           folder, index_name, name);
    }
    char *path = file_join(folder, name);
    if (!path) {
        return status_no_memory();
    }
    const tapml_status status = add_shard(checkpoint, path, name);
    alloc_free(path);
    return status;
}

// The shards that a map names, each once.
static tapml_status find_shards(const char *folder, json_t *weight_map, struct table *shards)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(weight_map, name, value)
    {
        const char *shard = json_string_value(value);
        size_t found = 0;
        if (shard && table_find(shards, shard, &found)) {
            continue;
        }
        if (!shard || shards->count == SHARD_COUNT_MAX) {
            return status_fail(TAPML_INVALID,
                               "%s/%s: tensor '%s': expected the name of one of at most %d shards",
                               folder, index_name, name, SHARD_COUNT_MAX);
        }
        TAPML_TRY(table_set(shards, shard, 0));
    }
    return TAPML_OK;
}

// Opens each of them, in the order in which they are named.
static tapml_status add_shards(struct checkpoint *checkpoint,
                               const char *folder,
                               json_t *weight_map,
                               struct table *shards)
{
    const char *name = NULL;
    json_t *value = NULL;
    TAPML_TRY(descriptors_expect(folder, shards->count));
    json_object_foreach(weight_map, name, value)
    {
        const char *shard = json_string_value(value);
        size_t is_open = 0;
        if (table_find(shards, shard, &is_open) && !is_open) {
            TAPML_TRY(table_set(shards, shard, 1));
            TAPML_TRY(add_shard_of_folder(checkpoint, folder, shard));
        }
    }
    return TAPML_OK;
}

static tapml_status
add_mapped_shards(struct checkpoint *checkpoint, const char *folder, json_t *weight_map)
{
    struct table shards;
    table_init(&shards);
    tapml_status status = find_shards(folder, weight_map, &shards);
    if (status == TAPML_OK) {
        status = add_shards(checkpoint, folder, weight_map, &shards);
    }
    table_release(&shards);
    return status;
}

static tapml_status
check_map(const struct checkpoint *checkpoint, const char *folder, json_t *weight_map)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(weight_map, name, value)
    {
        const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, name);
        if (!tensor || strcmp(tensor->file, json_string_value(value)) != 0) {
            return status_fail(TAPML_INVALID, "%s/%s: expected tensor '%s' in '%s', found it %s%s",
                               folder, index_name, name, json_string_value(value),
                               tensor ? "in " : "nowhere", tensor ? tensor->file : "");
        }
    }
    return TAPML_OK;
}

static tapml_status
read_index(struct checkpoint *checkpoint, const char *folder, const char *index_path)
{
    json_t *root = NULL;
    TAPML_TRY(json_file_load(index_path, &root));
    json_t *weight_map = json_object_get(root, "weight_map");
    tapml_status status = TAPML_OK;
    if (json_is_object(weight_map)) {
        status = add_mapped_shards(checkpoint, folder, weight_map);
    } else {
        status = status_fail(TAPML_INVALID, "%s: expected an object 'weight_map'", index_path);
    }
    if (status == TAPML_OK) {
        status = checkpoint_finish(checkpoint);
        status = status == TAPML_OK ? status : status_explain(status, "%s", index_path);
    }
    if (status == TAPML_OK) {
        status = check_map(checkpoint, folder, weight_map);
    }
    json_decref(root);
    return status;
}

static tapml_status read_folder(struct checkpoint *checkpoint,
                                const char *folder,
                                const char *single_path,
                                const char *index_path)
{
    if (file_exists(single_path)) {
        TAPML_TRY(add_shard(checkpoint, single_path, single_name));
        return checkpoint_finish(checkpoint);
    }
    if (file_exists(index_path)) {
        return read_index(checkpoint, folder, index_path);
    }
    return status_fail(TAPML_NOT_FOUND, "%s: expected '%s' or '%s', found neither", folder,
                       single_name, index_name);
}

static tapml_status
finish(tapml_status status, struct checkpoint *checkpoint, struct checkpoint **out_checkpoint)
{
    if (status != TAPML_OK) {
        checkpoint_close(checkpoint);
        return status;
    }
    *out_checkpoint = checkpoint;
    return TAPML_OK;
}

tapml_status safetensors_open(const char *folder, struct checkpoint **out_checkpoint)
{
    struct checkpoint *checkpoint = NULL;
    TAPML_TRY(checkpoint_create(&checkpoint));
    char *single_path = file_join(folder, single_name);
    char *index_path = file_join(folder, index_name);
    tapml_status status = TAPML_OK;
    if (single_path && index_path) {
        status = read_folder(checkpoint, folder, single_path, index_path);
    } else {
        status = status_no_memory();
    }
    alloc_free(single_path);
    alloc_free(index_path);
    return finish(status, checkpoint, out_checkpoint);
}

tapml_status safetensors_add(struct checkpoint *checkpoint, const char *path)
{
    const char *slash = strrchr(path, '/');
    return add_shard(checkpoint, path, slash ? slash + 1 : path);
}

tapml_status safetensors_open_file(const char *path, struct checkpoint **out_checkpoint)
{
    struct checkpoint *checkpoint = NULL;
    TAPML_TRY(checkpoint_create(&checkpoint));
    tapml_status status = safetensors_add(checkpoint, path);
    if (status == TAPML_OK) {
        status = checkpoint_finish(checkpoint);
    }
    if (status == TAPML_OK) {
        status = checkpoint_check_types(checkpoint);
    }
    return finish(status, checkpoint, out_checkpoint);
}
