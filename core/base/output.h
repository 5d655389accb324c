// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The standard output as a file that can be full: it is looked at before a long piece of work, and
// what was printed is no result until it has arrived. One thread.
#pragma once

#include "base/status.h"

// Where both streams are one file, as with `2>&1`, lines come there in the order in which they are
// printed. Before anything is printed.
void output_begin(void);

// Whether the standard output can be written to, as far as that shows before: TAPML_UNAVAILABLE if
// it is closed, open for reading only, or a device without room. Nothing is printed.
tapml_status output_try(void) STATUS_USED;

// Writes out what was printed. TAPML_UNAVAILABLE if any of it was lost, now or before.
tapml_status output_check(void) STATUS_USED;
