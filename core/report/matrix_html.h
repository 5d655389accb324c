// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The page of a matrix (report/matrix.h): a table for each model, and a list of the runs. It needs
// no script.
#pragma once

#include "base/text.h"

#include <jansson.h>

void matrix_html_print(const json_t *matrix, struct text *out);
