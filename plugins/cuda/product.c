// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products by cuBLASLt, whose matrices lie by columns: rows of ours are its columns, so that
//
//     y' = op(w') * x', with w' [width, outputs], which is transposed, and x' [width, rows]
//
// The library's way to compute a product depends on sizes, strides and alignment alone. It is asked
// for once, and of sums in pieces only such as are added in f32, in an order of their own: the same
// product has the same bits each time.
#include "driver.h"

#include <stdio.h>
#include <string.h>

// Products on matrix units are cut off at the end of each block of products, not rounded, and
// cutting errs to one side: after this many products a sum is added in f32 to the one before it.
enum { CHAIN = 1024, CHAIN_GRAIN = 64 };

enum { ALIGN_MOST = 128, WAYS = 4 };

// -- The library ---------------------------------------------------------------------------------

static const char *const product_names[] = {
#define PRODUCT_SYMBOL(name) #name,
#include "driver_symbols.def"
    NULL,
};

static tapml_status open_library(struct driver_root *root, tapml_call *call, const char *name)
{
    return gpu_library_open(root->host, call, name, product_names, &root->lt,
                            &root->product_library);
}

tapml_status product_load(struct driver_root *root, tapml_call *call)
{
    const char *option = root->host->core->option(root->host->host, "cublaslt");

    if (option == NULL) {
        return TAPML_OK;
    }
    root->is_product_sought = 1;
    return strcmp(option, "off") == 0 ? TAPML_OK : open_library(root, call, option);
}

void product_seek(struct driver_root *root)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                        "libcublasLt.so.11",
                                        "/usr/local/cuda/lib64/libcublasLt.so"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !root->is_product_sought; i++) {
        root->is_product_sought = open_library(root, NULL, names[i]) == TAPML_OK;
    }
    root->is_product_sought = 1;
}

// -- Begin and end -------------------------------------------------------------------------------

static cublasStatus_t make_operation(const struct driver_device *device,
                                     cublasComputeType_t compute,
                                     cublasLtMatmulDesc_t *out_operation)
{
    const struct product_functions *lt = &device->root->lt;
    const int32_t transposed = CUBLAS_OP_T;
    const cublasStatus_t code = lt->cublasLtMatmulDescCreate(out_operation, compute, CUDA_R_32F);

    return code != CUBLAS_STATUS_SUCCESS
               ? code
               : lt->cublasLtMatmulDescSetAttribute(*out_operation, CUBLASLT_MATMUL_DESC_TRANSA,
                                                    &transposed, sizeof(transposed));
}

static cublasStatus_t make_preference(const struct driver_device *device,
                                      cublasLtMatmulPreference_t *out_preference)
{
    const struct product_functions *lt = &device->root->lt;
    const uint64_t bytes = DRIVER_WORKSPACE_BYTES;
    const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasStatus_t code = lt->cublasLtMatmulPreferenceCreate(out_preference);

    if (code == CUBLAS_STATUS_SUCCESS) {
        code = lt->cublasLtMatmulPreferenceSetAttribute(
            *out_preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes));
    }
    return code != CUBLAS_STATUS_SUCCESS
               ? code
               : lt->cublasLtMatmulPreferenceSetAttribute(
                     *out_preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                     sizeof(schemes));
}

static cublasStatus_t begin(struct driver_device *device)
{
    struct driver_products *products = &device->products;
    cublasStatus_t code = device->root->lt.cublasLtCreate(&products->handle);

    if (code == CUBLAS_STATUS_SUCCESS) {
        code = make_operation(device, CUBLAS_COMPUTE_32F_PEDANTIC, &products->single);
    }
    if (code == CUBLAS_STATUS_SUCCESS) {
        code = make_operation(device, CUBLAS_COMPUTE_32F, &products->halves);
    }
    if (code == CUBLAS_STATUS_SUCCESS) {
        code = make_preference(device, &products->preference);
    }
    if (code == CUBLAS_STATUS_SUCCESS &&
        device->root->cu.cuMemAlloc_v2(&products->workspace, DRIVER_WORKSPACE_BYTES) !=
            CUDA_SUCCESS) {
        products->workspace = 0;
        code = CUBLAS_STATUS_ALLOC_FAILED;
    }
    return code;
}

static void drop(const struct driver_device *device, struct driver_product *product)
{
    const cublasLtMatrixLayout_t layouts[] = {product->x, product->w, product->y};

    for (int i = 0; i < 3; i++) {
        if (layouts[i] != NULL) {
            (void)device->root->lt.cublasLtMatrixLayoutDestroy(layouts[i]); // Always succeeds.
        }
    }
    *product = (struct driver_product){.used = 0};
}

// What is freed here is the host's memory, or the driver's, which has said what it had to say.
void product_close(struct driver_device *device)
{
    const struct product_functions *lt = &device->root->lt;
    struct driver_products *products = &device->products;

    for (uint32_t i = 0; i < DRIVER_PRODUCT_MAX; i++) {
        drop(device, &products->table[i]);
    }
    if (products->preference != NULL) {
        (void)lt->cublasLtMatmulPreferenceDestroy(products->preference);
    }
    if (products->halves != NULL) {
        (void)lt->cublasLtMatmulDescDestroy(products->halves);
    }
    if (products->single != NULL) {
        (void)lt->cublasLtMatmulDescDestroy(products->single);
    }
    if (products->handle != NULL) {
        (void)lt->cublasLtDestroy(products->handle);
    }
    if (products->workspace != 0) {
        (void)device->root->cu.cuMemFree_v2(products->workspace);
    }
    *products = (struct driver_products){.is_refused = products->is_refused};
}

static void say_refused(const struct driver_device *device, cublasStatus_t code, const char *what)
{
    const struct gpu_host *host = device->root->host;
    char text[256];
    const int length =
        snprintf(text, sizeof(text), "cuBLASLt refuses %s with code %d, kernels compute: %s", what,
                 code, device->root->lt.cublasLtGetStatusString(code));

    if (length > 0) {
        host->core->log(host->host, TAPML_LOG_WARNING, text,
                        (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
    }
}

// Whether the device has products. Its context is current then.
static int is_ready(struct driver_device *device)
{
    struct driver_products *products = &device->products;

    if (device->root->product_library == NULL || products->is_refused ||
        device_enter(device, NULL) != TAPML_OK) {
        return 0;
    }
    if (!products->is_begun) {
        const cublasStatus_t code = begin(device);

        products->is_begun = code == CUBLAS_STATUS_SUCCESS;
        products->is_refused = !products->is_begun;
        if (products->is_refused) {
            product_close(device);
            say_refused(device, code, "this device");
        }
    }
    return products->is_begun;
}

// -- Ways to compute a product -------------------------------------------------------------------

static uint64_t value_bytes(enum gpu_product_type type)
{
    return type == GPU_PRODUCT_F32 ? 4 : 2;
}

static CUdeviceptr address(const struct gpu_matrix *matrix, uint64_t bytes)
{
    return matrix->buffer->memory + matrix->at * bytes;
}

static uint64_t alignment(CUdeviceptr at)
{
    const uint64_t align = at & (~at + 1); // The lowest bit that is set.

    return align != 0 && align < ALIGN_MOST ? align : ALIGN_MOST;
}

// Of the first `width` values of the rows.
static struct product_key make_key(const struct gpu_product *product, uint32_t width)
{
    const uint64_t bytes = value_bytes(product->type);

    return (struct product_key){
        .type = product->type,
        .rows = product->rows,
        .outputs = product->outputs,
        .width = width,
        .x_stride = product->x.stride,
        .w_stride = product->w.stride,
        .y_stride = product->y.stride,
        .x_align = alignment(address(&product->x, bytes)),
        .w_align = alignment(address(&product->w, bytes)),
        .y_align = alignment(address(&product->y, 4)),
    };
}

static cublasStatus_t make_layouts(const struct driver_device *device,
                                   struct driver_product *product)
{
    static const cudaDataType_t types[] = {[GPU_PRODUCT_F32] = CUDA_R_32F,
                                           [GPU_PRODUCT_F16] = CUDA_R_16F,
                                           [GPU_PRODUCT_BF16] = CUDA_R_16BF};
    const struct product_functions *lt = &device->root->lt;
    const struct product_key *key = &product->key;
    const cudaDataType_t type = types[key->type];
    cublasStatus_t code = lt->cublasLtMatrixLayoutCreate(&product->w, type, key->width,
                                                         key->outputs, (int64_t)key->w_stride);

    if (code == CUBLAS_STATUS_SUCCESS) {
        code = lt->cublasLtMatrixLayoutCreate(&product->x, type, key->width, key->rows,
                                              (int64_t)key->x_stride);
    }
    return code != CUBLAS_STATUS_SUCCESS
               ? code
               : lt->cublasLtMatrixLayoutCreate(&product->y, CUDA_R_32F, key->outputs, key->rows,
                                                (int64_t)key->y_stride);
}

static cublasStatus_t set_alignments(const struct driver_device *device,
                                     const struct product_key *key)
{
    const struct {
        int attribute;
        uint32_t bytes;
    } aligns[] = {
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, (uint32_t)key->w_align},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, (uint32_t)key->x_align},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, (uint32_t)key->y_align},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, (uint32_t)key->y_align},
    };
    cublasStatus_t code = CUBLAS_STATUS_SUCCESS;

    for (int i = 0; i < 4 && code == CUBLAS_STATUS_SUCCESS; i++) {
        code = device->root->lt.cublasLtMatmulPreferenceSetAttribute(
            device->products.preference, aligns[i].attribute, &aligns[i].bytes,
            sizeof(aligns[i].bytes));
    }
    return code;
}

static cublasLtMatmulDesc_t operation_of(const struct driver_products *products, uint64_t type)
{
    return type == GPU_PRODUCT_F32 ? products->single : products->halves;
}

// Asks the library for its best way; without one, the product is not taken.
static void search(const struct driver_device *device, struct driver_product *product)
{
    const struct driver_products *products = &device->products;
    cublasLtMatmulHeuristicResult_t found[WAYS];
    int count = 0;
    cublasStatus_t code = make_layouts(device, product);

    if (code == CUBLAS_STATUS_SUCCESS) {
        code = set_alignments(device, &product->key);
    }
    if (code == CUBLAS_STATUS_SUCCESS) {
        code = device->root->lt.cublasLtMatmulAlgoGetHeuristic(
            products->handle, operation_of(products, product->key.type), product->w, product->x,
            product->y, product->y, products->preference, WAYS, found, &count);
    }
    for (int i = 0; code == CUBLAS_STATUS_SUCCESS && i < count && !product->is_taken; i++) {
        if (found[i].state == CUBLAS_STATUS_SUCCESS &&
            found[i].workspace_size <= DRIVER_WORKSPACE_BYTES) {
            product->algo = found[i].algo;
            product->is_taken = 1;
        }
    }
}

// The entry of a product; of more than there is room for, that which was used last is kept.
static struct driver_product *find(struct driver_device *device, const struct product_key *key)
{
    struct driver_products *products = &device->products;
    struct driver_product *oldest = &products->table[0];

    products->time++;
    for (uint32_t i = 0; i < DRIVER_PRODUCT_MAX; i++) {
        struct driver_product *product = &products->table[i];

        if (product->used != 0 && memcmp(&product->key, key, sizeof(*key)) == 0) {
            product->used = products->time;
            return product;
        }
        oldest = product->used < oldest->used ? product : oldest;
    }
    drop(device, oldest);
    oldest->key = *key;
    oldest->used = products->time;
    search(device, oldest);
    return oldest;
}

// -- Products ------------------------------------------------------------------------------------

// How many values of each row go into one chain.
static uint32_t chain_of(const struct gpu_product *product)
{
    const uint32_t width = product->width;

    if (product->type == GPU_PRODUCT_F32 || product->is_minor || width <= CHAIN) {
        return width;
    }
    const uint32_t count = width / CHAIN + (width % CHAIN != 0);
    const uint32_t even = width / count + (width % count != 0);

    return (even + CHAIN_GRAIN - 1) / CHAIN_GRAIN * CHAIN_GRAIN;
}

int product_is_taken(struct driver_device *device, const struct gpu_product *product)
{
    const uint32_t chain = chain_of(product), rest = product->width % chain;

    if (!is_ready(device)) {
        return 0;
    }
    const struct product_key key = make_key(product, chain), last = make_key(product, rest);

    return find(device, &key)->is_taken && (rest == 0 || find(device, &last)->is_taken);
}

// Nothing was queued, and nothing is wrong with the device.
static int is_refusal(cublasStatus_t code)
{
    return code == CUBLAS_STATUS_NOT_SUPPORTED || code == CUBLAS_STATUS_INVALID_VALUE ||
           code == CUBLAS_STATUS_ARCH_MISMATCH;
}

static tapml_status fail(const struct driver_device *device, tapml_call *call, cublasStatus_t code)
{
    return gpu_fail(device->root->host, call,
                    code == CUBLAS_STATUS_ALLOC_FAILED ? TAPML_NO_MEMORY : TAPML_INTERNAL, code,
                    "cublasLtMatmul: %s", device->root->lt.cublasLtGetStatusString(code));
}

// The chain of `width` values from value `at` of each row on.
static tapml_status queue_chain(struct driver_device *device,
                                tapml_call *call,
                                const struct gpu_product *product,
                                uint32_t at,
                                uint32_t width)
{
    const struct driver_products *products = &device->products;
    const uint64_t bytes = value_bytes(product->type);
    const float alpha = product->factor, beta = at > 0 || product->goes_on ? 1 : 0;
    const struct product_key key = make_key(product, width);
    struct driver_product *known = find(device, &key);

    if (!known->is_taken) {
        return TAPML_UNIMPLEMENTED;
    }
    const CUdeviceptr y = address(&product->y, 4);
    const cublasStatus_t code = device->root->lt.cublasLtMatmul(
        products->handle, operation_of(products, product->type), &alpha,
        address(&product->w, bytes) + at * bytes, known->w,
        address(&product->x, bytes) + at * bytes, known->x, &beta, y, known->y, y, known->y,
        &known->algo, products->workspace, DRIVER_WORKSPACE_BYTES, device->stream);

    if (is_refusal(code)) {
        known->is_taken = 0;
        say_refused(device, code, "a product that it has found a way for");
        return TAPML_UNIMPLEMENTED;
    }
    return code == CUBLAS_STATUS_SUCCESS ? TAPML_OK : fail(device, call, code);
}

tapml_status
product_queue(struct driver_device *device, tapml_call *call, const struct gpu_product *product)
{
    const uint32_t chain = chain_of(product);
    tapml_status status = device_enter(device, call);

    if (status == TAPML_OK && !is_ready(device)) {
        return TAPML_UNIMPLEMENTED;
    }
    for (uint32_t at = 0; at < product->width && status == TAPML_OK; at += chain) {
        const uint32_t left = product->width - at;

        status = queue_chain(device, call, product, at, left < chain ? left : chain);
    }
    return status;
}
