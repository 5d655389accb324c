// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/dump.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "model/checkpoint.h"
#include "store/case.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

struct dump_part {
    struct file_map map;
    void *block;
    struct checkpoint *checkpoint;
    struct dump_part *next;
};

tapml_status dump_create(const char *path, struct dump **out_dump)
{
    struct dump *dump = alloc_new(sizeof(*dump));

    if (dump == NULL) {
        return status_no_memory();
    }
    dump->arena = arena_create();
    dump->path = dump->arena != NULL ? arena_text(dump->arena, path) : NULL;
    if (dump->path == NULL) {
        dump_destroy(dump);
        return status_no_memory();
    }
    *out_dump = dump;
    return TAPML_OK;
}

static void free_part(struct dump_part *part)
{
    if (part->map.data != NULL) {
        file_unmap(&part->map);
    }
    alloc_free(part->block);
    checkpoint_close(part->checkpoint);
    alloc_free(part);
}

void dump_destroy(struct dump *dump)
{
    if (dump == NULL) {
        return;
    }
    while (dump->parts != NULL) {
        struct dump_part *part = dump->parts;

        dump->parts = part->next;
        free_part(part);
    }
    alloc_free(dump->tensors);
    arena_destroy(dump->arena);
    alloc_free(dump);
}

static tapml_status check_name(const struct dump *dump, const struct dump_tensor *tensor)
{
    const size_t length = strlen(tensor->name) + (tensor->op != NULL ? strlen(tensor->op) : 0) +
                          (tensor->key != NULL ? strlen(tensor->key) : 0);

    if (*tensor->name == '\0') {
        return status_fail(TAPML_INVALID, "%s: a tensor has no name", dump->path);
    }
    if (length > DUMP_NAMES_MAX) {
        return status_fail(TAPML_INVALID, "%s: the name of a tensor is too long", dump->path);
    }
    for (const char *at = tensor->name; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            return status_fail(TAPML_INVALID, "%s: a tensor's name has a control character",
                               dump->path);
        }
    }
    return TAPML_OK;
}

static tapml_status check_size(const struct dump *dump, const struct dump_tensor *tensor)
{
    int64_t count = 0;
    const tapml_status status = shape_count(tensor->shape, tensor->rank, &count);

    if (status != TAPML_OK) {
        return status_explain(status, "%s: tensor '%s'", dump->path, tensor->name);
    }
    return (uint64_t)count <= CASE_BASE_BYTES_MAX / dtype_bytes(tensor->dtype)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: tensor '%s' has %lld elements, which is too large",
                             dump->path, tensor->name, (long long)count);
}

tapml_status dump_add(struct dump *dump, const struct dump_tensor *tensor)
{
    void *grown = dump->tensors;

    TAPML_TRY(check_name(dump, tensor));
    TAPML_TRY(check_size(dump, tensor));
    if (!alloc_grow(&grown, &dump->capacity, dump->count, sizeof(*dump->tensors))) {
        return status_no_memory();
    }
    dump->tensors = grown;
    dump->tensors[dump->count++] = *tensor;
    return TAPML_OK;
}

static struct dump_part *add_part(struct dump *dump)
{
    struct dump_part *part = alloc_new(sizeof(*part));

    if (part != NULL) {
        part->next = dump->parts;
        dump->parts = part;
    }
    return part;
}

tapml_status dump_map(struct dump *dump, const char *path, const void **out_data, size_t *out_size)
{
    struct dump_part *part = add_part(dump);

    if (part == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(file_map(path, &part->map));
    *out_data = part->map.data;
    *out_size = part->map.size;
    return TAPML_OK;
}

tapml_status dump_keep(struct dump *dump, void *block)
{
    struct dump_part *part = add_part(dump);

    if (part == NULL) {
        alloc_free(block);
        return status_no_memory();
    }
    part->block = block;
    return TAPML_OK;
}

tapml_status dump_keep_checkpoint(struct dump *dump, struct checkpoint *checkpoint)
{
    struct dump_part *part = add_part(dump);

    if (part == NULL) {
        checkpoint_close(checkpoint);
        return status_no_memory();
    }
    part->checkpoint = checkpoint;
    return TAPML_OK;
}

int64_t dump_count(const struct dump_tensor *tensor)
{
    int64_t count = 1;

    for (uint32_t i = 0; i < tensor->rank; i++) {
        count *= tensor->shape[i]; // `dump_add` has checked the product.
    }
    return count;
}

const struct dump_tensor *dump_find(const struct dump *dump, const char *name, size_t before)
{
    for (size_t i = before; i-- > 0;) {
        if (strcmp(dump->tensors[i].name, name) == 0) {
            return &dump->tensors[i];
        }
    }
    for (size_t i = before; i < dump->count; i++) {
        if (strcmp(dump->tensors[i].name, name) == 0) {
            return &dump->tensors[i];
        }
    }
    return NULL;
}

static int is_digit(char character)
{
    return character >= '0' && character <= '9';
}

// Compares the numbers that both begin with, and moves behind them.
static int compare_numbers(const char **left, const char **right)
{
    size_t left_length = 0, right_length = 0;

    for (; **left == '0' && is_digit((*left)[1]); (*left)++) {
    }
    for (; **right == '0' && is_digit((*right)[1]); (*right)++) {
    }
    for (; is_digit((*left)[left_length]); left_length++) {
    }
    for (; is_digit((*right)[right_length]); right_length++) {
    }
    const int order = left_length != right_length ? (left_length < right_length ? -1 : 1)
                                                  : memcmp(*left, *right, left_length);

    *left += left_length;
    *right += right_length;
    return order;
}

int dump_compare_names(const char *left, const char *right)
{
    const char *a = left, *b = right;

    while (*a != '\0' && *b != '\0') {
        if (is_digit(*a) && is_digit(*b)) {
            const int order = compare_numbers(&a, &b);

            if (order != 0) {
                return order;
            }
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return *a != *b ? (*a == '\0' ? -1 : 1) : strcmp(left, right);
}
