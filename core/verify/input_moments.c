// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "verify/input_moments.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "store/carved.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <string.h>

static const char OP[] = "tapml.linear";

struct input_moments {
    struct store *store;
};

tapml_status input_moments_open(const char *path, struct input_moments **out_moments)
{
    struct input_moments *moments = alloc_new(sizeof(*moments));

    if (moments == NULL) {
        return status_no_memory();
    }
    const tapml_status status = store_open_to_read(path, &moments->store);

    if (status != TAPML_OK) {
        alloc_free(moments);
        return status;
    }
    *out_moments = moments;
    return TAPML_OK;
}

void input_moments_close(struct input_moments *moments)
{
    if (moments != NULL) {
        store_close(moments->store);
        alloc_free(moments);
    }
}

static const struct case_argument *find_argument(const struct carved_case *item, const char *name)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (strcmp(item->arguments[i].name, name) == 0) {
            return &item->arguments[i];
        }
    }
    return NULL;
}

// The inputs of a case if it is a product with the weight as [out, columns], or NULL.
static const struct case_argument *
find_inputs(const struct carved_case *item, const char *weight, uint64_t columns)
{
    const struct case_argument *x = find_argument(item, "x"), *w = find_argument(item, "w");
    const struct case_argument *transposed = find_argument(item, "transposed");

    if (strcmp(item->op_name, OP) != 0 || x == NULL || w == NULL || transposed == NULL) {
        return NULL;
    }
    const int is_as_stored = transposed->i == 0 && w->rank == 2 && w->origin != NULL &&
                             strcmp(w->origin, weight) == 0 && w->shape[1] == (int64_t)columns;

    return is_as_stored && x->rank > 0 && x->shape[x->rank - 1] == (int64_t)columns &&
                   x->encoding == NULL && dtype_is_float(x->dtype) && x->before != NULL
               ? x
               : NULL;
}

// Adds the lower triangle.
static void add_row(const double *row, uint64_t columns, double *io_moments)
{
    for (uint64_t i = 0; i < columns; i++) {
        const double value = row[i];
        double *moments = io_moments + i * columns;

        for (uint64_t k = 0; value != 0 && k <= i; k++) {
            moments[k] += value * row[k];
        }
    }
}

static tapml_status
add_inputs(const struct case_argument *x, uint64_t columns, struct arena *arena, double *io_moments)
{
    const size_t row_bytes = (size_t)columns * dtype_bytes(x->dtype);
    double *row = arena_array(arena, (size_t)columns, sizeof(*row));

    if (row == NULL) {
        return status_no_memory();
    }
    for (uint64_t at = 0; at + row_bytes <= x->content_bytes; at += row_bytes) {
        convert_to_f64(x->dtype, (const unsigned char *)x->before + at, (size_t)columns, row);
        add_row(row, columns, io_moments);
    }
    return TAPML_OK;
}

// Makes room when the first case is there: a weight that is none of a product may be very wide.
static tapml_status make_room(uint64_t columns, double **io_moments)
{
    if (*io_moments == NULL && columns <= SIZE_MAX / columns) {
        *io_moments = alloc_array(columns * columns, sizeof(**io_moments));
    }
    return *io_moments != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status add_case(struct input_moments *moments,
                             int64_t id,
                             const char *weight,
                             uint64_t columns,
                             double **io_moments)
{
    struct carved_case item;
    struct arena *arena = arena_create();
    tapml_status status =
        arena != NULL ? stored_case_load(moments->store, id, arena, &item) : status_no_memory();
    const struct case_argument *x = status == TAPML_OK ? find_inputs(&item, weight, columns) : NULL;

    if (x != NULL) {
        status = make_room(columns, io_moments);
        status = status == TAPML_OK ? add_inputs(x, columns, arena, *io_moments) : status;
    }
    arena_destroy(arena);
    return status;
}

static void mirror(uint64_t columns, double *io_moments)
{
    for (uint64_t i = 0; i < columns; i++) {
        for (uint64_t k = 0; k < i; k++) {
            io_moments[k * columns + i] = io_moments[i * columns + k];
        }
    }
}

static tapml_status
add_cases(struct input_moments *moments, const char *weight, uint64_t columns, double **io_moments)
{
    struct arena *arena = arena_create();
    int64_t *ids = NULL;
    size_t count = 0;
    tapml_status status = arena != NULL
                              ? carved_list_weight(moments->store, weight, arena, &ids, &count)
                              : status_no_memory();

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = add_case(moments, ids[i], weight, columns, io_moments);
    }
    arena_destroy(arena);
    return status;
}

tapml_status
input_moments_find(void *user, const char *weight, uint64_t columns, double **out_moments)
{
    struct input_moments *moments = user;

    ASSERT(columns > 0);
    *out_moments = NULL;
    const tapml_status status = add_cases(moments, weight, columns, out_moments);

    if (status != TAPML_OK) {
        alloc_free(*out_moments);
        *out_moments = NULL;
        return status;
    }
    if (*out_moments != NULL) {
        mirror(columns, *out_moments);
    }
    return TAPML_OK;
}
