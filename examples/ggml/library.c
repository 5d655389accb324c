// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_FILE "libggml.so.0"

enum { OBJECT_BYTES = 32 }; // What the library keeps beside each tensor.

// What the library says of its devices is said by the host, in its own words.
static void drop(enum ggml_log_level level, const char *text, void *user)
{
}

static int find(const struct library *library,
                void *out_function,
                const char *name,
                char problem[LIBRARY_PROBLEM])
{
    void *symbol = dlsym(library->handle, name);

    memcpy(out_function, &symbol, sizeof(symbol));
    if (symbol == NULL) {
        (void)snprintf(problem, LIBRARY_PROBLEM, LIBRARY_FILE " has no function '%s'", name);
    }
    return symbol != NULL;
}

#define LIBRARY_FIND(name) &&find(library, &library->name, "ggml_" #name, problem)

int library_open(struct library *library, char problem[LIBRARY_PROBLEM])
{
    library->handle = dlopen(LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == NULL) {
        (void)snprintf(problem, LIBRARY_PROBLEM, "%s", dlerror());
        return 0;
    }
    if (!(1 LIBRARY_FUNCTIONS(LIBRARY_FIND))) {
        return 0;
    }
    // Tensors are read and written in place, and their struct has changed under the same soname.
    if (library->tensor_overhead() != sizeof(struct ggml_tensor) + OBJECT_BYTES) {
        (void)snprintf(problem, LIBRARY_PROBLEM,
                       LIBRARY_FILE " %s has another struct ggml_tensor than its headers had here",
                       library->version());
        return 0;
    }
    library->log_set(drop, NULL);
    library->backend_load_all();
    return 1;
}
