// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where the list of published models is: the first of
//
//   1  TAPML_MODELS, an absolute folder; not under AT_SECURE
//   2  in a build tree, conf/models of its source
//   3  beside the executable: ../share/tapml/1/models
//   4  the folder that the build was configured for
//
// One thread, because the environment is read.
#pragma once

#include "model/published.h"

// Reads the list. `program` is the running executable. TAPML_NOT_FOUND names the folder that is not
// there. The caller closes `out_list`.
tapml_status model_list_open(const char *program, struct published **out_list) STATUS_USED;
