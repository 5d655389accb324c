// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include <tapml/gpu/support.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ALIGN = 16 };

tapml_status gpu_fail(const struct gpu_host *host,
                      tapml_call *call,
                      tapml_status code,
                      int64_t native_code,
                      const char *format,
                      ...)
{
    char message[512];
    va_list arguments;

    if (call == NULL) {
        return code;
    }
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments); // Cut where it is too long.
    va_end(arguments);
    return host->core->fail(call, code, native_code, host->domain, message, strlen(message));
}

void *gpu_alloc(const struct gpu_host *host, size_t size)
{
    void *memory = host->core->alloc(host->host, size, ALIGN);

    return memory != NULL ? memset(memory, 0, size) : NULL;
}

void gpu_free(const struct gpu_host *host, void *memory, size_t size)
{
    host->core->free(host->host, memory, size, ALIGN);
}

tapml_status gpu_option(const struct gpu_host *host,
                        tapml_call *call,
                        const char *key,
                        const char *const *words,
                        uint32_t count,
                        uint32_t *out_word)
{
    const char *value = host->core->option(host->host, key);
    char list[128] = "";

    if (value == NULL) {
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = strlen(list);

        if (strcmp(value, words[i]) == 0) {
            *out_word = i;
            return TAPML_OK;
        }
        (void)snprintf(list + at, sizeof(list) - at, " %s", words[i]); // Cut where it is too long.
    }
    return gpu_fail(host, call, TAPML_INVALID, 0, "option '%s' is '%s', expected one of:%s", key,
                    value, list);
}

tapml_status gpu_kernel_text(const struct gpu_host *host,
                             tapml_call *call,
                             const struct k_kernel *kernel,
                             const uint32_t *tune,
                             enum gpu_tune_form form,
                             struct gpu_text *out_text)
{
    enum { LINE = 96 };
    const char *line = form == GPU_TUNE_CONST ? "const %s: u32 = %uu;\n" : "#define %s %uu\n";
    const size_t size = kernel->size + ((size_t)kernel->n_tune + 1) * LINE + 1;
    char *text = gpu_alloc(host, size);
    size_t at = 0;

    if (text == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    if (form == GPU_TUNE_CONST) {
        memcpy(text, kernel->code, kernel->size);
        at = kernel->size;
    }
    for (uint32_t i = 0; i < kernel->n_tune; i++) {
        at += (size_t)snprintf(text + at, LINE, line, kernel->tune[i].name, tune[i]);
    }
    if (form == GPU_TUNE_DEFINE) {
        at += (size_t)snprintf(text + at, LINE,
                               "#line 1\n"); // What a compiler says counts from here.
        memcpy(text + at, kernel->code, kernel->size);
    }
    *out_text = (struct gpu_text){text, size};
    return TAPML_OK;
}

tapml_status gpu_library_open(const struct gpu_host *host,
                              tapml_call *call,
                              const char *name,
                              const char *const *symbols,
                              void *functions,
                              void **out_library)
{
    // Stays mapped: drivers have threads and handlers of exit that outlive a dlclose.
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (library == NULL) {
        return gpu_fail(host, call, TAPML_UNAVAILABLE, 0, "%s", dlerror());
    }
    for (size_t i = 0; symbols[i] != NULL; i++) {
        void *symbol = dlsym(library, symbols[i]);

        if (symbol == NULL) {
            (void)dlclose(library); // Nothing was used of it.
            return gpu_fail(host, call, TAPML_UNAVAILABLE, 0, "'%s' has no '%s'", name, symbols[i]);
        }
        // ISO C has no cast from an object to a function; POSIX promises that the bytes fit.
        memcpy((char *)functions + i * sizeof(symbol), &symbol, sizeof(symbol));
    }
    *out_library = library;
    return TAPML_OK;
}

void gpu_library_close(void *library)
{
    if (library != NULL) {
        (void)dlclose(library); // Nothing can be done about a failure.
    }
}

uint64_t gpu_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); // This clock always exists.
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
