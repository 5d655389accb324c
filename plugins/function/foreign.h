// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A function of a shared library that knows nothing of TapML, as an implementation of an op: what
// the host calls is made by libffi, and takes the arguments apart as the function wants them.
#pragma once

#include <tapml/memory/object.h>
#include <tapml/signature.h>

#include <ffi.h>

enum { FOREIGN_PARAMS_MAX = 48, FOREIGN_PROBLEM = 256 };

struct foreign {
    void *library;
    void (*entry)(void);
    char name[128]; // Of the function.
    int has_status; // It returns an int, not 0 where it failed.
    struct signature signature;
    ffi_cif cif; // Of the function.
    ffi_type *types[SIGNATURE_ARGUMENTS_MAX];
    ffi_cif own_cif; // Of what the host calls.
    ffi_type *own_types[2 * FOREIGN_PARAMS_MAX];
    ffi_closure *closure;
    tapml_op_impl impl;            // For the host; without a function while none is open,
    const tapml_op_impl *impls[1]; // and as a list, which the caller sets.
    char digest[64];               // Of the library and how it is called.
};

// What the options say. Each is given.
struct foreign_options {
    const char *library, *entry, *op, *arguments;
    int has_status;
};

// Opens the library and makes `impl`. `foreign` is zero, and stays where it is. Returns 1, or 0
// with a sentence; either way foreign_close is called.
int foreign_open(struct foreign *foreign,
                 const struct foreign_options *options,
                 char problem[FOREIGN_PROBLEM]);
void foreign_close(struct foreign *foreign);
