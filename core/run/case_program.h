// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case as a program of one C file, which needs a C compiler and nothing of TapML: it calls a
// function `kernel` that somebody writes, and compares what it computes. docs/bridges.md shows it.
#pragma once

#include "run/case_export.h"

// The most elements that such a file has: it would be compiled for minutes.
enum { CASE_PROGRAM_ELEMENTS_MAX = 1 << 22 };

// Writes test_case.c into the folder of `export_`, which is made if it is not there. TAPML_INVALID
// if a weight is not there, or the case is too large; else fails as `file_write` does.
tapml_status case_program_write(const struct case_export *export_) STATUS_USED;
