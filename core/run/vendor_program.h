// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The program for the vendor of a driver that is wrong: one C file that makes the check that failed
// by the vendor's API alone. A plugin brings its text, a file beside its manifest; what was found
// is put into it as macros.
//
// One thread.
#pragma once

#include "run/driver_bundle.h"

struct arena;
struct registry;

// The path of the program beside a bundle, in `arena`: "FAULT-1.c" for "FAULT-1.tapmlrun"; NULL
// where there is no memory.
const char *vendor_program_path(const char *bundle, struct arena *arena);

// Writes the program to `path`, in place of what was there, and sets `*out_is_written`. A component
// without one has none written, and an old one is removed; a file of a plugin that cannot be read
// is a warning, and none is written either. Otherwise failures are those of writing to `path`,
// which name it, and TAPML_NO_MEMORY.
tapml_status vendor_program_write(const struct driver_bundle_options *what,
                                  struct registry *registry,
                                  const char *path,
                                  int *out_is_written) STATUS_USED;
