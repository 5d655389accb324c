// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case as a model of ONNX with a test data set, in the layout of ONNX's own backend tests:
// model.onnx, test_data_set_0/input_N.pb and output_N.pb. Its nodes compute in f32 what the op is,
// by a recipe for each op; an op without a recipe is refused.
// https://onnx.ai/onnx/repo-docs/IR.html has the format.
#pragma once

#include "run/case_export.h"

// The operator set that recipes are written for.
enum { CASE_ONNX_OPSET = 20 };

// Writes the files into the folder of `export_`, which is made if it is not there.
// TAPML_UNIMPLEMENTED if the op, or what this case asks of it, has no recipe; TAPML_INVALID if a
// weight is not there, or the case is too large for such a file; else fails as `file_write` does.
tapml_status case_onnx_write(const struct case_export *export_) STATUS_USED;
