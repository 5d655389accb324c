// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for cuBLASLt, of the part that the plugin uses: plain loops on the CPU, behind the
// commands of the stand-in for the driver. It ends the process where the library refuses a call:
// matrices that do not fit each other, a stride below a column, an answer of the search that is
// used for other matrices, addresses that are not aligned as the search was told, and memory that
// is not of one allocation.
//
// Sums of values of 16 bits are made as matrix units make them: exact products, sixteen at a time,
// are added to a sum of 24 digits, of which more are cut off.
//
// The environment corrupts it:
//   EMULATED_CUBLASLT_FAULT  "handle" cannot begin; "search" finds no way for an odd number of
//                            rows; "matmul" finds one and does not support it
#include "cuda.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, WORKSPACE = 4096, WORKSPACE_ALIGN = 256, ALIGNMENTS = 4 };

struct cublas_handle {
    api_emulated_cuda_find *find;
    api_emulated_cuda_run *run;
};

struct cublas_layout {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t stride;
};

struct cublas_operation {
    cublasComputeType_t compute;
    int32_t transposed;
};

struct cublas_preference {
    uint64_t workspace;
    uint32_t schemes;
    uint32_t aligns[ALIGNMENTS]; // Of A, B, C and D.
};

// What a search was made for: the library's algorithm, for which 64 bytes are enough.
struct algorithm {
    uint64_t magic, sizes;
    uint32_t aligns[ALIGNMENTS];
};

_Static_assert(sizeof(struct algorithm) <= sizeof(cublasLtMatmulAlgo_t), "it is one");

static const uint64_t algorithm_magic = 0x746d6c616d755f6cu;

static bool is_fault(const char *name)
{
    const char *fault = getenv("EMULATED_CUBLASLT_FAULT");

    return fault != NULL && strcmp(fault, name) == 0;
}

size_t cublasLtGetVersion(void)
{
    return 130000;
}

const char *cublasLtGetStatusString(cublasStatus_t code)
{
    return code == CUBLAS_STATUS_NOT_INITIALIZED ? "the library was not initialized"
                                                 : "an error of cuBLASLt";
}

// -- Objects -----------------------------------------------------------------------------------

cublasStatus_t cublasLtCreate(cublasLtHandle_t *out_handle)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    cublasLtHandle_t handle = calloc(1, sizeof(*handle));

    if (handle == NULL || driver == NULL || is_fault("handle")) {
        free(handle);
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    void *find = dlsym(driver, "emulated_cuda_find"), *run = dlsym(driver, "emulated_cuda_run");

    memcpy(&handle->find, &find, sizeof(find));
    memcpy(&handle->run, &run, sizeof(run));
    *out_handle = handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out_layout,
                                          cudaDataType_t type,
                                          uint64_t rows,
                                          uint64_t columns,
                                          int64_t stride)
{
    cublasLtMatrixLayout_t layout = calloc(1, sizeof(*layout));

    if (layout == NULL) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *layout = (struct cublas_layout){type, rows, columns, stride};
    *out_layout = layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    free(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out_operation,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    cublasLtMatmulDesc_t operation = calloc(1, sizeof(*operation));

    if (operation == NULL || scale != CUDA_R_32F) {
        free(operation);
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    operation->compute = compute;
    *out_operation = operation;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation)
{
    free(operation);
    return CUBLAS_STATUS_SUCCESS;
}

// Copies an attribute whose size is known.
static cublasStatus_t set(void *target, size_t wanted, const void *value, size_t size)
{
    if (target == NULL || value == NULL || size != wanted) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    memcpy(target, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              int attribute,
                                              const void *value,
                                              size_t size)
{
    return set(attribute == CUBLASLT_MATMUL_DESC_TRANSA ? &operation->transposed : NULL,
               sizeof(operation->transposed), value, size);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out_preference)
{
    cublasLtMatmulPreference_t preference = calloc(1, sizeof(*preference));

    if (preference == NULL) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *preference = (struct cublas_preference){.schemes = 7, .aligns = {256, 256, 256, 256}};
    *out_preference = preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    free(preference);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    int attribute,
                                                    const void *value,
                                                    size_t size)
{
    switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return set(&preference->workspace, sizeof(preference->workspace), value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        return set(&preference->schemes, sizeof(preference->schemes), value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return set(&preference->aligns[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
                   sizeof(preference->aligns[0]), value, size);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}

// -- What is legal -------------------------------------------------------------------------------

// The plugin goes on without a product that is refused, so that an illegal call would not be seen.
_Noreturn static void refuse(const char *function)
{
    (void)fprintf(stderr, "%s: illegal arguments\n", function);
    abort();
}

static size_t bytes_of(cudaDataType_t type)
{
    return type == CUDA_R_32F ? 4 : 2;
}

static bool is_layout(cublasLtMatrixLayout_t layout)
{
    return layout != NULL &&
           (layout->type == CUDA_R_32F || layout->type == CUDA_R_16F ||
            layout->type == CUDA_R_16BF) &&
           layout->rows > 0 && layout->columns > 0 && layout->rows <= INT32_MAX &&
           layout->columns <= INT32_MAX && layout->stride >= (int64_t)layout->rows;
}

// Matrices of one kind of product: A is transposed, B is not, C and D are one matrix of f32.
static bool is_product(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t const layouts[4])
{
    cublasLtMatrixLayout_t a = layouts[0], b = layouts[1], c = layouts[2], d = layouts[3];

    if (!is_layout(a) || !is_layout(b) || !is_layout(c) || c != d ||
        operation->transposed != CUBLAS_OP_T) {
        return false;
    }
    return a->type == b->type && c->type == CUDA_R_32F && a->rows == b->rows &&
           a->columns == c->rows && b->columns == c->columns &&
           operation->compute ==
               (a->type == CUDA_R_32F ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F);
}

// A number that differs for other sizes.
static uint64_t digest(cublasLtMatrixLayout_t const layouts[4])
{
    uint64_t sum = 0xcbf29ce484222325u;

    for (int i = 0; i < 4; i++) {
        const uint64_t parts[] = {(uint64_t)layouts[i]->type, layouts[i]->rows, layouts[i]->columns,
                                  (uint64_t)layouts[i]->stride};

        for (int k = 0; k < 4; k++) {
            sum = (sum ^ parts[k]) * 0x100000001b3u;
        }
    }
    return sum;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a_layout,
                                              cublasLtMatrixLayout_t b_layout,
                                              cublasLtMatrixLayout_t c_layout,
                                              cublasLtMatrixLayout_t d_layout,
                                              cublasLtMatmulPreference_t preference,
                                              int most,
                                              cublasLtMatmulHeuristicResult_t *out_results,
                                              int *out_count)
{
    cublasLtMatrixLayout_t const layouts[] = {a_layout, b_layout, c_layout, d_layout};
    struct algorithm algorithm = {.magic = algorithm_magic};

    if (handle == NULL || most < 1 || preference->schemes != 2 || !is_product(operation, layouts)) {
        refuse("cublasLtMatmulAlgoGetHeuristic");
    }
    for (int i = 0; i < ALIGNMENTS; i++) {
        const uint32_t align = preference->aligns[i];

        if (align < bytes_of(layouts[i]->type) || (align & (align - 1)) != 0) {
            refuse("cublasLtMatmulAlgoGetHeuristic");
        }
        algorithm.aligns[i] = align;
    }
    if (preference->workspace < WORKSPACE || (is_fault("search") && b_layout->columns % 2 != 0)) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    algorithm.sizes = digest(layouts);
    *out_results = (cublasLtMatmulHeuristicResult_t){.workspace_size = WORKSPACE};
    memcpy(&out_results->algo, &algorithm, sizeof(algorithm));
    *out_count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

// -- The product ---------------------------------------------------------------------------------

struct work {
    cudaDataType_t type;
    const unsigned char *a, *b;
    float *d;
    uint64_t outputs, rows, width;
    int64_t a_stride, b_stride, d_stride;
    float alpha, beta;
};

static float half_value(uint16_t half)
{
    const int exponent = half >> 10 & 31;
    const float digits = (float)(half & 1023), sign = (half >> 15) != 0 ? -1.0f : 1.0f;

    if (exponent == 31) {
        return digits != 0 ? NAN : sign * INFINITY;
    }
    return sign * (exponent == 0 ? ldexpf(digits, -24) : ldexpf(digits + 1024, exponent - 25));
}

static float value_at(const unsigned char *values, int64_t at, cudaDataType_t type)
{
    uint16_t half = 0;
    uint32_t word = 0;
    float value = 0;

    if (type == CUDA_R_32F) {
        memcpy(&value, values + at * 4, 4);
        return value;
    }
    memcpy(&half, values + at * 2, 2);
    if (type == CUDA_R_16F) {
        return half_value(half);
    }
    word = (uint32_t)half << 16;
    memcpy(&value, &word, 4);
    return value;
}

// The nearest f32 that is not larger in size.
static float cut_off(double exact)
{
    const float near = (float)exact;

    return isfinite(near) && fabs((double)near) > fabs(exact) ? nextafterf(near, 0.0f) : near;
}

static float sum_of(const struct work *work, uint64_t row, uint64_t output)
{
    const unsigned char *a =
        work->a + (int64_t)output * work->a_stride * (int64_t)bytes_of(work->type);
    const unsigned char *b =
        work->b + (int64_t)row * work->b_stride * (int64_t)bytes_of(work->type);
    float sum = 0;

    for (uint64_t k = 0; k < work->width; k += BLOCK) {
        double block = sum;

        for (uint64_t i = k; i < k + BLOCK && i < work->width; i++) {
            const float u = value_at(a, (int64_t)i, work->type);
            const float v = value_at(b, (int64_t)i, work->type);

            sum = fmaf(u, v, sum);
            block += (double)u * v;
        }
        sum = work->type == CUDA_R_32F ? sum : cut_off(block);
    }
    return sum;
}

static void multiply(void *data)
{
    const struct work *work = data;

    for (uint64_t row = 0; row < work->rows; row++) {
        for (uint64_t output = 0; output < work->outputs; output++) {
            float *d = &work->d[(int64_t)row * work->d_stride + (int64_t)output];
            const float sum = work->alpha * sum_of(work, row, output);

            *d = work->beta != 0 ? sum + work->beta * *d : sum; // What is not read may be NaN.
        }
    }
}

// The memory of a whole matrix, aligned as it was promised; or NULL.
static unsigned char *
find(cublasLtHandle_t handle, CUdeviceptr memory, cublasLtMatrixLayout_t layout, uint32_t align)
{
    const size_t columns = (size_t)(layout->columns - 1) * (size_t)layout->stride;

    return memory % align == 0
               ? handle->find(memory, (columns + layout->rows) * bytes_of(layout->type))
               : NULL;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle,
                              cublasLtMatmulDesc_t operation,
                              const void *alpha,
                              CUdeviceptr a,
                              cublasLtMatrixLayout_t a_layout,
                              CUdeviceptr b,
                              cublasLtMatrixLayout_t b_layout,
                              const void *beta,
                              CUdeviceptr c,
                              cublasLtMatrixLayout_t c_layout,
                              CUdeviceptr d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algo,
                              CUdeviceptr workspace,
                              size_t workspace_size,
                              CUstream stream)
{
    cublasLtMatrixLayout_t const layouts[] = {a_layout, b_layout, c_layout, d_layout};
    struct algorithm algorithm;
    struct work work = {.type = CUDA_R_32F};

    memcpy(&algorithm, algo, sizeof(algorithm));
    if (!is_product(operation, layouts) || algorithm.magic != algorithm_magic ||
        algorithm.sizes != digest(layouts) || c != d || workspace_size < WORKSPACE ||
        workspace % WORKSPACE_ALIGN != 0 || handle->find(workspace, workspace_size) == NULL) {
        refuse("cublasLtMatmul");
    }
    if (is_fault("matmul")) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    work = (struct work){.type = a_layout->type,
                         .a = find(handle, a, a_layout, algorithm.aligns[0]),
                         .b = find(handle, b, b_layout, algorithm.aligns[1]),
                         .outputs = c_layout->rows,
                         .rows = c_layout->columns,
                         .width = a_layout->rows,
                         .a_stride = a_layout->stride,
                         .b_stride = b_layout->stride,
                         .d_stride = d_layout->stride};
    unsigned char *target = find(handle, d, d_layout, algorithm.aligns[3]);

    if (work.a == NULL || work.b == NULL || target == NULL) {
        refuse("cublasLtMatmul");
    }
    memcpy(&work.d, &target, sizeof(target));
    memcpy(&work.alpha, alpha, sizeof(work.alpha));
    memcpy(&work.beta, beta, sizeof(work.beta));
    return handle->run(stream, multiply, &work, sizeof(work)) == CUDA_SUCCESS
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_ALLOC_FAILED;
}
