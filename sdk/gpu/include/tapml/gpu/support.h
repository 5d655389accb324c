// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What sdk/gpu has ready for drivers: errors, memory, kernel texts, libraries.
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

// Says why a call fails, as printf does, and returns `code`. Without a call, in a release, nobody
// is told.
tapml_status gpu_fail(const struct gpu_host *host,
                      tapml_call *call,
                      tapml_status code,
                      int64_t native_code,
                      const char *format,
                      ...) GPU_PRINTF(5, 6);

// Zeroed memory of the host, or NULL. gpu_free accepts NULL and wants the size again.
void *gpu_alloc(const struct gpu_host *host, size_t size);
void gpu_free(const struct gpu_host *host, void *memory, size_t size);

// Reads the option `key`, one of `words`: its index into *out_word, which stays as it is where the
// option is not set. TAPML_INVALID, with the list, where it is another word.
tapml_status gpu_option(const struct gpu_host *host,
                        tapml_call *call,
                        const char *key,
                        const char *const *words,
                        uint32_t count,
                        uint32_t *out_word);

// How a language takes the values of tune constants.
enum gpu_tune_form {
    GPU_TUNE_DEFINE, // "#define BM 64u" before the text: OpenCL C, CUDA, MSL.
    GPU_TUNE_CONST,  // "const BM: u32 = 64u;" behind it: WGSL, where `enable` stays first.
};

// A text with a zero behind it, in `size` bytes of the host's memory.
struct gpu_text {
    char *data;
    size_t size;
};

// The text of a kernel with its constants bound. Given back by gpu_free(host, text.data,
// text.size).
tapml_status gpu_kernel_text(const struct gpu_host *host,
                             tapml_call *call,
                             const struct k_kernel *kernel,
                             const uint32_t *tune,
                             enum gpu_tune_form form,
                             struct gpu_text *out_text);

// Opens a shared library and looks up its functions. `symbols` are their names, ended by NULL, and
// `functions` is a struct of as many pointers to functions, in the same order. TAPML_UNAVAILABLE
// where the library or a symbol is absent. The library is closed by gpu_library_close; NULL is
// allowed.
tapml_status gpu_library_open(const struct gpu_host *host,
                              tapml_call *call,
                              const char *name,
                              const char *const *symbols,
                              void *functions,
                              void **out_library);
void gpu_library_close(void *library);

// Nanoseconds of a clock that never goes back.
uint64_t gpu_clock_ns(void);

#ifdef __cplusplus
}
#endif

#endif
