// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The perplexity of a model (run/perplexity.h) as a JSON document, of which the text is a view;
// docs/perplexity.md describes it.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "run/perplexity.h"

#include <jansson.h>

struct perplexity_data {
    const char *model, *text; // As they were given.
    const char *source;       // COMPONENT:DEVICE
    const char *plan, *base;  // The plan, the model that was compared with; NULL: none.
    const char *activations;  // "f32"
    const struct text_chunks *chunks;
    struct perplexity *perplexity; // Gets sorted.
    const double *running;         // The perplexity behind each of its chunks.
};

// The caller owns the document (json_decref). TAPML_NO_MEMORY is the one failure.
tapml_status perplexity_data_create(const struct perplexity_data *data,
                                    json_t **out_document) STATUS_USED;

// Appends the lines of the terminal: what came out, and what it was compared with.
void perplexity_data_print(const json_t *document, struct text *out);
