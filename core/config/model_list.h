// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The list of published models, from where it is (config/data_folder.h).
//
// One thread, because the environment is read.
#pragma once

#include "model/published.h"

// Reads the list. `program` is the running executable. TAPML_NOT_FOUND names the folder that is not
// there. The caller closes `out_list`.
tapml_status model_list_open(const char *program, struct published **out_list) STATUS_USED;
