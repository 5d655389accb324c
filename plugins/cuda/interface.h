// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What this plugin uses of NVIDIA's interfaces, declared here, so that a build needs none of their
// files: the driver API (libcuda.so.1), the compiler (libnvrtc) and the matrix products
// (libcublasLt). All are stable: names, numbers and signatures are those that CUDA 11.4 to 13
// document.
#pragma once

#include <stddef.h>
#include <stdint.h>

// -- The driver API ----------------------------------------------------------------------------

typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUevent_st *CUevent;
typedef struct CUfunc_st *CUfunction;
typedef struct CUmod_st *CUmodule;
typedef struct CUstream_st *CUstream;
typedef struct {
    unsigned char bytes[16];
} CUuuid;

// A CUresult. It is no enum: a driver may know codes that this list does not.
typedef int CUresult;
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714, // 714 to 719 are faults of a running kernel.
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_UNKNOWN = 999,
};

typedef int CUdevice_attribute;
enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
};

enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2 };

typedef CUresult api_cuCtxSetCurrent(CUcontext context);
typedef CUresult api_cuDeviceGet(CUdevice *out_device, int ordinal);
typedef CUresult
api_cuDeviceGetAttribute(int *out_value, CUdevice_attribute attribute, CUdevice device);
typedef CUresult api_cuDeviceGetCount(int *out_count);
typedef CUresult api_cuDeviceGetName(char *name, int size, CUdevice device);
typedef CUresult api_cuDeviceGetUuid_v2(CUuuid *out_uuid, CUdevice device);
typedef CUresult api_cuDevicePrimaryCtxRelease_v2(CUdevice device);
typedef CUresult api_cuDevicePrimaryCtxRetain(CUcontext *out_context, CUdevice device);
typedef CUresult api_cuDeviceTotalMem_v2(size_t *out_bytes, CUdevice device);
typedef CUresult api_cuDriverGetVersion(int *out_version);
typedef CUresult api_cuEventCreate(CUevent *out_event, unsigned flags);
typedef CUresult api_cuEventDestroy_v2(CUevent event);
typedef CUresult api_cuEventQuery(CUevent event);
typedef CUresult api_cuEventRecord(CUevent event, CUstream stream);
typedef CUresult api_cuEventSynchronize(CUevent event);
typedef CUresult api_cuGetErrorString(CUresult code, const char **out_text);
typedef CUresult api_cuInit(unsigned flags);
typedef CUresult api_cuLaunchKernel(CUfunction function,
                                    unsigned grid_x,
                                    unsigned grid_y,
                                    unsigned grid_z,
                                    unsigned block_x,
                                    unsigned block_y,
                                    unsigned block_z,
                                    unsigned shared_bytes,
                                    CUstream stream,
                                    void **params,
                                    void **extra);
typedef CUresult api_cuMemAlloc_v2(CUdeviceptr *out_memory, size_t size);
typedef CUresult api_cuMemFreeHost(void *memory);
typedef CUresult api_cuMemFree_v2(CUdeviceptr memory);
typedef CUresult api_cuMemHostAlloc(void **out_memory, size_t size, unsigned flags);
typedef CUresult
api_cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream);
typedef CUresult
api_cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t size, CUstream stream);
typedef CUresult
api_cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t size, CUstream stream);
typedef CUresult
api_cuModuleGetFunction(CUfunction *out_function, CUmodule module, const char *name);
typedef CUresult api_cuModuleLoadData(CUmodule *out_module, const void *image);
typedef CUresult api_cuModuleUnload(CUmodule module);
// Called on a thread of the driver, with the failure where the context has one.
typedef void CUstreamCallback(CUstream stream, CUresult code, void *user);
typedef CUresult
api_cuStreamAddCallback(CUstream stream, CUstreamCallback *function, void *user, unsigned flags);
typedef CUresult api_cuStreamCreate(CUstream *out_stream, unsigned flags);
typedef CUresult api_cuStreamDestroy_v2(CUstream stream);
typedef CUresult api_cuStreamSynchronize(CUstream stream);
typedef CUresult api_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);

// -- The compiler ------------------------------------------------------------------------------

typedef struct nvrtc_program *nvrtcProgram;

typedef int nvrtcResult;
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_OUT_OF_MEMORY = 1 };

typedef nvrtcResult
api_nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options);
typedef nvrtcResult api_nvrtcCreateProgram(nvrtcProgram *out_program,
                                           const char *text,
                                           const char *name,
                                           int header_count,
                                           const char *const *headers,
                                           const char *const *header_names);
typedef nvrtcResult api_nvrtcDestroyProgram(nvrtcProgram *program);
typedef nvrtcResult api_nvrtcGetCUBIN(nvrtcProgram program, char *data);
typedef nvrtcResult api_nvrtcGetCUBINSize(nvrtcProgram program, size_t *out_size);
typedef const char *api_nvrtcGetErrorString(nvrtcResult code);
typedef nvrtcResult api_nvrtcGetNumSupportedArchs(int *out_count);
typedef nvrtcResult api_nvrtcGetPTX(nvrtcProgram program, char *data);
typedef nvrtcResult api_nvrtcGetPTXSize(nvrtcProgram program, size_t *out_size);
typedef nvrtcResult api_nvrtcGetProgramLog(nvrtcProgram program, char *log);
typedef nvrtcResult api_nvrtcGetProgramLogSize(nvrtcProgram program, size_t *out_size);
typedef nvrtcResult api_nvrtcGetSupportedArchs(int *archs);
typedef nvrtcResult api_nvrtcVersion(int *out_major, int *out_minor);

// -- Matrix products ---------------------------------------------------------------------------

typedef struct cublas_handle *cublasLtHandle_t;
typedef struct cublas_layout *cublasLtMatrixLayout_t;
typedef struct cublas_operation *cublasLtMatmulDesc_t;
typedef struct cublas_preference *cublasLtMatmulPreference_t;

typedef int cublasStatus_t;
enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
};

typedef int cudaDataType_t;
enum { CUDA_R_32F = 0, CUDA_R_16F = 2, CUDA_R_16BF = 14 };

// Pedantic: no environment makes TF32 or an emulation of it.
typedef int cublasComputeType_t;
enum { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69 };

// Attributes, and values of them.
enum { CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum {
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,   // uint64_t
    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3, // uint32_t
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5, // uint32_t, as the three that follow
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
    CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE =
        2, // Sums of pieces are f32; one piece is allowed, too.
};

typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;

typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspace_size;
    cublasStatus_t state;
    float waves;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;

typedef cublasStatus_t api_cublasLtCreate(cublasLtHandle_t *out_handle);
typedef cublasStatus_t api_cublasLtDestroy(cublasLtHandle_t handle);
typedef const char *api_cublasLtGetStatusString(cublasStatus_t code);
typedef size_t api_cublasLtGetVersion(void);
// D = alpha * op(A) * op(B) + beta * C, by columns. Addresses of the device's memory are pointers
// in the original.
typedef cublasStatus_t api_cublasLtMatmul(cublasLtHandle_t handle,
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
                                          CUstream stream);
typedef cublasStatus_t
api_cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                   cublasLtMatmulDesc_t operation,
                                   cublasLtMatrixLayout_t a_layout,
                                   cublasLtMatrixLayout_t b_layout,
                                   cublasLtMatrixLayout_t c_layout,
                                   cublasLtMatrixLayout_t d_layout,
                                   cublasLtMatmulPreference_t preference,
                                   int most,
                                   cublasLtMatmulHeuristicResult_t *out_results,
                                   int *out_count);
typedef cublasStatus_t api_cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out_operation,
                                                    cublasComputeType_t compute,
                                                    cudaDataType_t scale);
typedef cublasStatus_t api_cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation);
typedef cublasStatus_t api_cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                                          int attribute,
                                                          const void *value,
                                                          size_t size);
typedef cublasStatus_t
api_cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out_preference);
typedef cublasStatus_t api_cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference);
typedef cublasStatus_t api_cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference, int attribute, const void *value, size_t size);
typedef cublasStatus_t api_cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out_layout,
                                                      cudaDataType_t type,
                                                      uint64_t rows,
                                                      uint64_t columns,
                                                      int64_t stride);
typedef cublasStatus_t api_cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout);
