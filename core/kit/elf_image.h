// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the dynamic linker would make of a shared library: read with libelf, nothing is opened or
// run.
//
// The file is untrusted: sections are found by their headers, and libelf checks that they lie in
// the file. One thread.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct elf_symbol {
    const char *name;
    int is_defined;
    int is_weak;
    int is_unique;  // STB_GNU_UNIQUE: one in the process, whatever was opened where.
    int is_version; // Its version says which library it comes from; of an import.
    int is_local;   // Nobody else can bind to it.
};

struct elf_image {
    struct elf_symbol *symbols; // The table of dynamic symbols.
    size_t symbol_count;
    const char **needed; // Names of libraries.
    size_t needed_count;
    int has_text_relocations;
    int has_executable_stack; // Or says nothing of its stack, which means the same.
    int has_relro;            // Relocated data becomes read-only,
    int is_bound_now;         // all of it, since every symbol is bound when it is opened.
    int has_static_tls;       // Room in the block of every thread, which may be used up.
    int has_versions;         // Imports have versions, as with glibc.
    struct arena *arena;      // Of all that.
};

// Reads a library. TAPML_INVALID names the file and what is damaged. The caller releases the image.
tapml_status elf_image_read(const char *path, struct elf_image *out_image) STATUS_USED;
void elf_image_release(struct elf_image *image);
