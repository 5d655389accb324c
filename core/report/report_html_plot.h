// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Drawings of a target's differences: by depth in the model, and how the cases of each op spread.
// They are SVG in the page, without a script.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends the worst margin of every instance, in the order of the model, with a line at the limit;
// then a histogram of the margins of each op's cases, recorded and made up. Nothing for a target
// without instances that were compared.
void report_html_plot_print(const json_t *target, struct text *out);
