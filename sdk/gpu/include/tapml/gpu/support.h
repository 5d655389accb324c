// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Functions of sdk/gpu for drivers: errors, memory, kernel texts, libraries.
#ifndef TAPML_GPU_SUPPORT_H
#define TAPML_GPU_SUPPORT_H

#include <tapml/gpu/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPU_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define GPU_PRINTF(at, first)
#endif

// Sets the message of a failing call, formatted as by printf, and returns `code`. If `call` is
// NULL, in a release, the message is dropped.
tapml_status gpu_fail(const struct gpu_host *host,
                      tapml_call *call,
                      tapml_status code,
                      int64_t native_code,
                      const char *format,
                      ...) GPU_PRINTF(5, 6);

// Returns `size` zeroed bytes from the host's allocator, or NULL. The caller frees them by
// gpu_free.
void *gpu_alloc(const struct gpu_host *host, size_t size);

// Frees memory of gpu_alloc, with the size that was requested. NULL is allowed.
void gpu_free(const struct gpu_host *host, void *memory, size_t size);

// Reads the option `key`, which is one of `words`, and writes its index to *out_word; if the option
// is not set, *out_word is unchanged. TAPML_INVALID, with the list, for another word.
tapml_status gpu_option(const struct gpu_host *host,
                        tapml_call *call,
                        const char *key,
                        const char *const *words,
                        uint32_t count,
                        uint32_t *out_word);

// How a language receives the values of tune constants.
enum gpu_tune_form {
    GPU_TUNE_DEFINE, // "#define BM 64u" before the text: OpenCL C, CUDA, MSL.
    GPU_TUNE_CONST,  // "const BM: u32 = 64u;" behind it: WGSL, where `enable` stays first.
};

// A text with a zero byte at its end, in `size` bytes of the host's memory.
struct gpu_text {
    char *data;
    size_t size;
};

// Writes the text of a kernel with the values of its constants; the first line of the kernel stays
// line 1 for a compiler. The caller frees it by gpu_free(host, text.data, text.size).
tapml_status gpu_kernel_text(const struct gpu_host *host,
                             tapml_call *call,
                             const struct k_kernel *kernel,
                             const uint32_t *tune,
                             enum gpu_tune_form form,
                             struct gpu_text *out_text);

// Opens a shared library and looks up its functions. `symbols` are their names, ended by NULL;
// `functions` is a struct with a function pointer for each, in the same order. TAPML_UNAVAILABLE if
// the library or a symbol is absent. The caller closes the library by gpu_library_close.
tapml_status gpu_library_open(const struct gpu_host *host,
                              tapml_call *call,
                              const char *name,
                              const char *const *symbols,
                              void *functions,
                              void **out_library);

// NULL is allowed.
void gpu_library_close(void *library);

// Tells the host that the ticket of a notice is reached, TAPML_OK, or that the work before it has
// failed. The driver has the notice from `notify` and does not touch it any more. [any]
void gpu_notice_give(struct gpu_notice *notice, tapml_status status);

// Returns the nanoseconds of a monotonic clock. [any]
uint64_t gpu_clock_ns(void);

#ifdef __cplusplus
}
#endif

#endif
