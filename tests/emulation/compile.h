// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Compiles a kernel's text into a shared object of this machine, and loads such objects.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { EMULATION_LOG_SIZE = 4096 };

// A shared object, in malloc's memory.
struct emulation_code {
    unsigned char *bytes;
    size_t size;
};

// Compiles `text`, with `header` of this folder in front of it; the compiler's complaint is in
// `log`.
bool emulation_compile(const char *header,
                       const char *text,
                       struct emulation_code *out_code,
                       char log[EMULATION_LOG_SIZE]);

// A number that changes with the headers that kernels are compiled with.
unsigned long long emulation_version(const char *header);

struct emulation_object {
    void *handle;
    int fd; // Its name while it is loaded.
};

bool emulation_load(const unsigned char *bytes, size_t size, struct emulation_object *out_object);

// Copies the address of function PREFIX_NAME into a pointer to a function; false without one.
bool emulation_find(const struct emulation_object *object,
                    const char *prefix,
                    const char *name,
                    void *out_function);
void emulation_unload(struct emulation_object *object);
