// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A template of text in a subset of Jinja, as chat templates are written.
//
// What is outside of the subset is refused by name and line. Reading and rendering are bounded in
// steps, memory, output and depth (template/budget.h), so that a hostile template ends in one
// sentence. A template is constant: several threads may render it.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct template;

// Reads a template of `length` bytes. Messages begin with "NAME:LINE: ", where `name` is copied.
// The caller owns the result.
tapml_status template_create(const char *name,
                             const char *source,
                             size_t length,
                             struct template **out_template) STATUS_USED;

// NULL is allowed.
void template_destroy(struct template *template);

// Renders with the members of the object `variables`. `now`, in seconds since 1970, is the time of
// strftime_now. The caller frees `*out_text`, which has a zero byte behind its `*out_length` bytes,
// by alloc_free.
tapml_status template_render(const struct template *template,
                             const json_t *variables,
                             int64_t now,
                             char **out_text,
                             size_t *out_length) STATUS_USED;
