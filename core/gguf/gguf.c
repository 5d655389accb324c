// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf.h"

#include "base/alloc.h"
#include "base/descriptors.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPLIT_COUNT_MAX = 99999, // As many as five digits name.
    DIGITS = 5,
    ENDING_BYTES = 20, // "-00001-of-00003.gguf"
};

struct gguf {
    char *path;
    struct gguf_file **files;
    size_t file_count;
    struct gguf_tensor *tensors;
    size_t tensor_count;
};

int gguf_is(const char *path)
{
    return file_exists(path) && !file_is_folder(path);
}

// -- Splits ------------------------------------------------------------------------------------

// What a file says of its place among others.
struct gguf_split {
    int64_t number, count, tensor_count;
};

static tapml_status
read_number(const struct gguf_file *file, const char *key, int64_t most, int64_t *io_number)
{
    const struct gguf_value *value = gguf_file_find(file, key);
    int64_t number = -1;
    if (!value) {
        return TAPML_OK;
    }
    if (value->is_array || !gguf_value_integer(value, 0, &number) || number < 0 || number > most) {
        return status_fail(TAPML_INVALID,
                           "%s: key '%s': expected a whole number, 0 .. %lld, found another value",
                           gguf_file_path(file), key, (long long)most);
    }
    *io_number = number;
    return TAPML_OK;
}

static tapml_status read_split(const struct gguf_file *file, struct gguf_split *out_split)
{
    struct gguf_split split = {.number = 0, .count = 1, .tensor_count = -1};
    TAPML_TRY(read_number(file, "split.count", SPLIT_COUNT_MAX, &split.count));
    TAPML_TRY(read_number(file, "split.no", SPLIT_COUNT_MAX, &split.number));
    TAPML_TRY(read_number(file, "split.tensors.count", INT64_MAX, &split.tensor_count));
    split.count = split.count > 1 ? split.count : 1;
    if (split.number >= split.count) {
        return status_fail(TAPML_INVALID,
                           "%s: key 'split.no': expected a number below the %lld of "
                           "'split.count', found %lld",
                           gguf_file_path(file), (long long)split.count, (long long)split.number);
    }
    *out_split = split;
    return TAPML_OK;
}

// The name of file `number` of a split model; the caller frees it. NULL: without memory.
static char *split_path(const char *path, size_t stem, int64_t number, int64_t count)
{
    struct text text;
    char *name = NULL;
    size_t length = 0;
    text_init(&text);
    text_append_bytes(&text, path, stem);
    text_format(&text, "-%0*lld-of-%0*lld.gguf", DIGITS, (long long)number + 1, DIGITS,
                (long long)count);
    return text_take(&text, &name, &length) == TAPML_OK ? name : NULL;
}

// Checks that a file has the name of its place, from which the others' names follow.
static tapml_status find_stem(const char *path, const struct gguf_split *split, size_t *out_stem)
{
    const size_t length = strlen(path);
    const size_t stem = length > ENDING_BYTES ? length - ENDING_BYTES : 0;
    char *expected = split_path(path, stem, split->number, split->count);
    if (!expected) {
        return status_no_memory();
    }
    const char *slash = strrchr(expected, '/');
    const tapml_status status =
        strcmp(expected, path) == 0
            ? TAPML_OK
            : status_fail(TAPML_INVALID,
                          "%s: file %lld of the %lld of a split model: expected a name such as "
                          "'%s'",
                          path, (long long)split->number + 1, (long long)split->count,
                          stem > 0 && slash ? slash + 1 : expected);
    alloc_free(expected);
    *out_stem = stem;
    return status;
}

static tapml_status check_place(const struct gguf_file *file, int64_t number, int64_t count)
{
    struct gguf_split split;
    TAPML_TRY(read_split(file, &split));
    return split.number == number && split.count == count
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: expected 'split.no' %lld and 'split.count' %lld, found %lld and "
                             "%lld",
                             gguf_file_path(file), (long long)number, (long long)count,
                             (long long)split.number, (long long)split.count);
}

// Opens file `number` of a split model.
static tapml_status
open_split(struct gguf *gguf, size_t stem, int64_t number, struct gguf_file **out_file)
{
    const int64_t count = (int64_t)gguf->file_count;
    char *path = split_path(gguf->path, stem, number, count);
    if (!path) {
        return status_no_memory();
    }
    const tapml_status status = gguf_file_open(path, out_file);
    alloc_free(path);
    return status == TAPML_OK ? check_place(*out_file, number, count) : status;
}

// Opens the files besides the one that is open, and puts that in its place.
static tapml_status
open_others(struct gguf *gguf, struct gguf_file *opened, const struct gguf_split *split)
{
    size_t stem = 0;
    gguf->files[split->number] = opened;
    if (split->count > 1) {
        TAPML_TRY(find_stem(gguf->path, split, &stem));
        TAPML_TRY(descriptors_expect(gguf->path, (size_t)split->count));
    }
    for (int64_t i = 0; i < split->count; ++i) {
        if (i != split->number) {
            TAPML_TRY(open_split(gguf, stem, i, &gguf->files[i]));
        }
    }
    return TAPML_OK;
}

// -- Tensors -----------------------------------------------------------------------------------

static int compare_tensors(const void *a, const void *b)
{
    const struct gguf_tensor *x = a;
    const struct gguf_tensor *y = b;
    return strcmp(x->tensor->name, y->tensor->name);
}

static void add_tensors(struct gguf *gguf, const struct gguf_file *file)
{
    const unsigned char *data = gguf_file_map(file).data;
    for (size_t i = 0; i < gguf_file_tensor_count(file); ++i) {
        const struct gguf_file_tensor *tensor = gguf_file_tensor_at(file, i);
        gguf->tensors[gguf->tensor_count++] =
            (struct gguf_tensor){tensor, file, data + tensor->offset};
    }
}

static tapml_status check_tensors(const struct gguf *gguf)
{
    struct gguf_split split;
    for (size_t i = 1; i < gguf->tensor_count; ++i) {
        const struct gguf_tensor *before = &gguf->tensors[i - 1];
        if (compare_tensors(before, &gguf->tensors[i]) == 0) {
            return status_fail(TAPML_INVALID, "tensor '%.128s' is in both '%s' and '%s'",
                               before->tensor->name, gguf_file_path(before->file),
                               gguf_file_path(gguf->tensors[i].file));
        }
    }
    TAPML_TRY(read_split(gguf->files[0], &split));
    return split.tensor_count < 0 || (uint64_t)split.tensor_count == gguf->tensor_count
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: expected the %lld tensors of 'split.tensors.count', found %zu",
                             gguf->path, (long long)split.tensor_count, gguf->tensor_count);
}

static tapml_status collect_tensors(struct gguf *gguf)
{
    size_t count = 0;
    for (size_t i = 0; i < gguf->file_count; ++i) {
        count += gguf_file_tensor_count(gguf->files[i]);
    }
    gguf->tensors = alloc_array(count + 1, sizeof(*gguf->tensors));
    if (!gguf->tensors) {
        return status_no_memory();
    }
    for (size_t i = 0; i < gguf->file_count; ++i) {
        add_tensors(gguf, gguf->files[i]);
    }
    qsort(gguf->tensors, gguf->tensor_count, sizeof(*gguf->tensors), compare_tensors);
    return check_tensors(gguf);
}

// -- The model ---------------------------------------------------------------------------------

// Opens the file of the path, and learns how many there are.
static tapml_status
open_first(struct gguf *gguf, struct gguf_file **out_file, struct gguf_split *out_split)
{
    struct gguf_file *file = NULL;
    struct gguf_split split = {.count = 1};
    TAPML_TRY(gguf_file_open(gguf->path, &file));
    tapml_status status = read_split(file, &split);
    gguf->files = alloc_array((size_t)split.count, sizeof(struct gguf_file *));
    if (status == TAPML_OK && !gguf->files) {
        status = status_no_memory();
    }
    if (status != TAPML_OK) {
        gguf_file_close(file);
        return status;
    }
    gguf->file_count = (size_t)split.count;
    *out_file = file;
    *out_split = split;
    return TAPML_OK;
}

tapml_status gguf_open(const char *path, struct gguf **out_gguf)
{
    struct gguf_file *file = NULL;
    struct gguf_split split = {.count = 1};
    struct gguf *gguf = alloc_new(sizeof(*gguf));
    if (!gguf) {
        return status_no_memory();
    }
    gguf->path = alloc_text(path);
    tapml_status status = gguf->path ? open_first(gguf, &file, &split) : status_no_memory();
    if (status == TAPML_OK) {
        status = open_others(gguf, file, &split);
    }
    if (status == TAPML_OK) {
        status = collect_tensors(gguf);
    }
    if (status != TAPML_OK) {
        gguf_close(gguf);
        return status;
    }
    *out_gguf = gguf;
    return TAPML_OK;
}

void gguf_close(struct gguf *gguf)
{
    if (gguf) {
        for (size_t i = 0; i < gguf->file_count; ++i) {
            gguf_file_close(gguf->files[i]);
        }
        alloc_free(gguf->files);
        alloc_free(gguf->tensors);
        alloc_free(gguf->path);
        alloc_free(gguf);
    }
}

const char *gguf_path(const struct gguf *gguf)
{
    return gguf->path;
}

size_t gguf_file_count(const struct gguf *gguf)
{
    return gguf->file_count;
}

struct gguf_file *gguf_file_at(const struct gguf *gguf, size_t index)
{
    return index < gguf->file_count ? gguf->files[index] : NULL;
}

const struct gguf_value *gguf_find(const struct gguf *gguf, const char *key)
{
    return gguf_file_find(gguf->files[0], key);
}

int gguf_find_integer(const struct gguf *gguf, const char *key, int64_t *out_integer)
{
    const struct gguf_value *value = gguf_find(gguf, key);
    return value && !value->is_array && gguf_value_integer(value, 0, out_integer);
}

int gguf_find_text(const struct gguf *gguf, const char *key, struct gguf_text *out_text)
{
    const struct gguf_value *value = gguf_find(gguf, key);
    return value && gguf_value_text(value, out_text);
}

size_t gguf_tensor_count(const struct gguf *gguf)
{
    return gguf->tensor_count;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *gguf, size_t index)
{
    return index < gguf->tensor_count ? &gguf->tensors[index] : NULL;
}

const struct gguf_tensor *gguf_tensor_find(const struct gguf *gguf, const char *name)
{
    const struct gguf_file_tensor wanted = {.name = name};
    const struct gguf_tensor key = {.tensor = &wanted};
    return gguf->tensor_count > 0 ? bsearch(&key, gguf->tensors, gguf->tensor_count,
                                            sizeof(*gguf->tensors), compare_tensors)
                                  : NULL;
}
