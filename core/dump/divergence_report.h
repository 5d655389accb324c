// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the comparison of two dumps has found, as text and as a JSON document, of the form
// "tapml-divergence/1" that docs/bridges.md describes. One thread.
#pragma once

#include "base/status.h"

#include <jansson.h>

struct divergence;
struct dump;
struct text;

// Appends the place that diverges first, and what was compared and what not.
void divergence_report_print(const struct divergence *divergence,
                             const struct dump *first,
                             const struct dump *second,
                             struct text *out);

// The document, with all tensors that differ and all that one side alone has. The caller owns it.
tapml_status divergence_report_data(const struct divergence *divergence,
                                    const struct dump *first,
                                    const struct dump *second,
                                    json_t **out_document) STATUS_USED;
