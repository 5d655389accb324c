// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mapped files that become shorter while they are mapped.
//
// The system sends SIGBUS to a thread that touches a page behind the end of a file. For the
// mappings that are watched here, a handler puts zeros in place of the pages that are gone, so that
// the thread goes on; `mapping_check` says it afterwards, before anything is kept that was computed
// from these zeros. SIGBUS of other memory goes to the handler that was there before. All functions
// may be called by any thread.
#pragma once

#include "base/status.h"

#include <stddef.h>

// Watches `size` bytes at `data`, a private mapping of the file `descriptor`, which stays open
// until `mapping_forget`. Errors are to name `path`, which is copied. TAPML_NO_MEMORY. The first
// call installs the handler.
tapml_status
mapping_watch(const void *data, size_t size, int descriptor, const char *path) STATUS_USED;

// Ends it, before the memory is unmapped. What is not watched is ignored.
void mapping_forget(const void *data);

// TAPML_INVALID if a watched file is shorter than its mapping, or was when somebody touched what is
// gone: "m.safetensors: it was 4096 bytes when it was opened and is 100 now". It asks the system
// for the size of each file, which takes about a microsecond a file.
tapml_status mapping_check(void) STATUS_USED;
