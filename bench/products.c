// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include "base/alloc.h"
#include "base/pool.h"
#include "schema/infer.h"

#include <tapml/ops.h>

#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112, SHAPES_MAX = 16, COLUMNS = 64 };

typedef void (*sgemm_fn)(int order,
                         int transpose_a,
                         int transpose_b,
                         int m,
                         int n,
                         int k,
                         float alpha,
                         const float *a,
                         int a_step,
                         const float *b,
                         int b_step,
                         float beta,
                         float *c,
                         int c_step);

struct shape {
    int64_t out, in, count;
};

struct products {
    const struct measure *measure;
    sgemm_fn sgemm; // NULL without a library.
    struct shape shapes[SHAPES_MAX];
    size_t shape_count;
    float *x, *w, *y;
    uint64_t x_bytes, w_bytes; // y has as many as x.
    struct backend *backend;   // NULL where its memory is not the host's.
    tapml_object *objects[3];  // Of it: x, w, y.
    const struct compiled_op *linear;
    const struct shape *shape; // That is multiplied.
};

// -- The library -------------------------------------------------------------------------------

static void find_library(struct products *products)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", NULL};
    const char *path = options_get(&products->measure->options, "--blas");
    void *handle = path != NULL ? dlopen(path, RTLD_NOW) : NULL;

    for (size_t i = 0; path == NULL && handle == NULL && names[i] != NULL; i++) {
        handle = dlopen(names[i], RTLD_NOW);
    }
    void *function = handle != NULL ? dlsym(handle, "cblas_sgemm") : NULL;
    void *one = handle != NULL ? dlsym(handle, "openblas_set_num_threads") : NULL;

    if (function != NULL) {
        memcpy(&products->sgemm, &function, sizeof(function));
    }
    if (one != NULL) {
        void (*set_threads)(int) = NULL;

        memcpy(&set_threads, &one, sizeof(one));
        set_threads(1); // The pool divides.
    }
}

static void multiply(void *user, uint64_t begin, uint64_t end)
{
    const struct products *products = user;
    const int out = (int)products->shape->out, in = (int)products->shape->in;
    const int first = (int)begin * COLUMNS;
    const int last = (int)end * COLUMNS < out ? (int)end * COLUMNS : out;

    products->sgemm(ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE, (int)products->measure->context,
                    last - first, in, 1, products->x, in, products->w + (size_t)first * (size_t)in,
                    in, 0, products->y + first, out);
}

static struct moment run_library(struct products *products)
{
    const uint64_t blocks = (uint64_t)(products->shape->out + COLUMNS - 1) / COLUMNS;
    const uint64_t width = pool_width(products->measure->setup.pool);
    const struct moment begin = reading_now();

    if (products->sgemm == NULL) {
        return (struct moment){INFINITY, INFINITY};
    }
    pool_run(products->measure->setup.pool, blocks, (blocks + width - 1) / width, multiply,
             products);
    return reading_since(begin);
}

// -- The backend's own -------------------------------------------------------------------------

static tapml_status find_own(struct products *products)
{
    const struct measure *measure = products->measure;
    struct backend *backend = measure->setup.places[0]->backend;
    void *const memory[] = {products->x, products->w, products->y};
    const uint64_t bytes[] = {products->x_bytes, products->w_bytes, products->x_bytes};

    products->linear = catalogue_find(registry_catalogue(measure->setup.registry),
                                      tapml_linear.name, tapml_linear.version);
    if (!backend_info(backend)->is_host_memory || products->linear == NULL) {
        return TAPML_OK;
    }
    products->backend = backend;
    for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++) {
        TAPML_TRY(backend_buffer_wrap(backend, memory[i], bytes[i],
                                      TAPML_ACCESS_READ | TAPML_ACCESS_WRITE,
                                      &products->objects[i]));
    }
    return TAPML_OK;
}

static tapml_status run_own(struct products *products, struct moment *out_took)
{
    const struct shape *shape = products->shape;
    const int64_t tokens = products->measure->context;
    const int64_t shapes[3][2] = {
        {tokens, shape->in}, {shape->out, shape->in}, {tokens, shape->out}};
    tapml_tensor tensors[3];
    struct inferred inferred;

    *out_took = (struct moment){INFINITY, INFINITY};
    if (products->backend == NULL) {
        return TAPML_OK;
    }
    for (size_t i = 0; i < sizeof(tensors) / sizeof(*tensors); i++) {
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = TAPML_F32,
                                    .rank = 2,
                                    .shape = shapes[i],
                                    .buffer = products->objects[i]};
    }
    const tapml_value args[] = {
        [TAPML_LINEAR_X] = {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
        [TAPML_LINEAR_W] = {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[1]},
        [TAPML_LINEAR_B] = {.kind = TAPML_V_NONE},
        [TAPML_LINEAR_TRANSPOSED] = {.kind = TAPML_P_I64, .u.i = 0},
        [TAPML_LINEAR_Y] = {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[2]},
    };

    TAPML_TRY(infer_call(products->linear, args, &inferred));
    const struct moment begin = reading_now();

    TAPML_TRY(backend_call(
        products->backend,
        &(struct backend_call){.op = products->linear->op, .args = args, .inferred = &inferred}));
    TAPML_TRY(backend_wait(products->backend));
    *out_took = reading_since(begin);
    return TAPML_OK;
}

// -- Both --------------------------------------------------------------------------------------

// Every weight of two axes is a product, but for the table that only gives rows.
static void find_shapes(struct products *products)
{
    const struct measure *measure = products->measure;

    for (size_t i = 0; i < checkpoint_count(measure->checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(measure->checkpoint, i);
        const int64_t *extents = tensor->tensor.shape;
        size_t at = 0;

        if (tensor->tensor.rank != 2 || strstr(tensor->name, "layers.") == NULL) {
            continue; // The head has one row.
        }
        while (at < products->shape_count &&
               (products->shapes[at].out != extents[0] || products->shapes[at].in != extents[1])) {
            at++;
        }
        if (at == products->shape_count && at < SHAPES_MAX) {
            products->shapes[products->shape_count++] = (struct shape){extents[0], extents[1], 0};
        }
        products->shapes[at].count += at < SHAPES_MAX;
    }
}

static tapml_status make_operands(struct products *products)
{
    const size_t tokens = (size_t)products->measure->context;
    size_t weights = 0, widths = 0;

    for (size_t i = 0; i < products->shape_count; i++) {
        const struct shape *shape = &products->shapes[i];
        const size_t size = (size_t)(shape->out * shape->in);
        const size_t width = (size_t)(shape->out > shape->in ? shape->out : shape->in);

        weights = size > weights ? size : weights;
        widths = width > widths ? width : widths;
    }
    products->w = alloc_array(weights, sizeof(float));
    products->x = alloc_array(widths * tokens, sizeof(float));
    products->y = alloc_array(widths * tokens, sizeof(float));
    if (products->w == NULL || products->x == NULL || products->y == NULL) {
        return status_no_memory();
    }
    products->w_bytes = weights * sizeof(float);
    products->x_bytes = widths * tokens * sizeof(float);
    for (size_t i = 0; i < weights; i++) {
        products->w[i] = (float)(i % 251) / 251 - 0.5f;
    }
    for (size_t i = 0; i < widths * tokens; i++) {
        products->x[i] = (float)(i % 241) / 241 - 0.5f;
    }
    return TAPML_OK;
}

static tapml_status make(struct products *products)
{
    find_library(products);
    find_shapes(products);
    TAPML_TRY(make_operands(products));
    TAPML_TRY(find_own(products));
    if (products->sgemm == NULL && products->backend == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "nothing to compare with: install "
                                              "libopenblas0-serial, or give --blas FILE");
    }
    return TAPML_OK;
}

tapml_status products_create(const struct measure *measure, struct products **out_products)
{
    struct products *products = alloc_array(1, sizeof(*products));

    if (products == NULL) {
        return status_no_memory();
    }
    *products = (struct products){.measure = measure};
    const tapml_status status = make(products);

    if (status != TAPML_OK) {
        products_destroy(products);
        return status;
    }
    *out_products = products;
    return TAPML_OK;
}

void products_destroy(struct products *products)
{
    if (products == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof(products->objects) / sizeof(*products->objects); i++) {
        if (products->backend != NULL) {
            backend_buffer_free(products->backend, products->objects[i]);
        }
    }
    alloc_free(products->x);
    alloc_free(products->w);
    alloc_free(products->y);
    alloc_free(products);
}

static void add(struct moment took, int64_t count, struct moment *sum)
{
    sum->wall += took.wall * (double)count;
    sum->processor += took.processor * (double)count;
}

tapml_status products_run(struct products *products, struct products_times *out_times)
{
    struct products_times times = {.best = {0, 0}};

    for (size_t i = 0; i < products->shape_count; i++) {
        struct moment own;

        products->shape = &products->shapes[i];
        TAPML_TRY(run_own(products, &own));
        const struct moment library = run_library(products);
        const struct moment best = {fmin(library.wall, own.wall),
                                    fmin(library.processor, own.processor)};

        add(library, products->shape->count, &times.library);
        add(own, products->shape->count, &times.own);
        add(best, products->shape->count, &times.best);
    }
    *out_times = times;
    return TAPML_OK;
}

double products_operations(const struct products *products)
{
    double sum = 0;

    for (size_t i = 0; i < products->shape_count; i++) {
        const struct shape *shape = &products->shapes[i];

        sum += 2.0 * (double)(shape->out * shape->in * shape->count) *
               (double)products->measure->context;
    }
    return sum;
}
