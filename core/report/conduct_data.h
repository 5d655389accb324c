// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What was found about a kernel (verify/conduct.h) as a JSON document, of which the text is a view;
// docs/bridges.md describes it.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "verify/conduct.h"

#include <jansson.h>

struct conduct_data {
    const char *file, *op, *backend; // As they were given, the op's whole name.
    int hides_cases;                 // Names and shapes of a failure, no value and no error.
    const struct conduct_result *result;
};

// The caller owns the document (json_decref). TAPML_NO_MEMORY is the one failure.
tapml_status conduct_data_create(const struct conduct_data *data,
                                 json_t **out_document) STATUS_USED;

// Appends a document as text for the terminal, the verdict first.
void conduct_data_print(const json_t *document, struct text *out);
