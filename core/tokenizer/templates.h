// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The "post_processor" of a tokenizer: ids that stand before and behind those of a text.
#pragma once

#include "base/status.h"
#include "tokenizer/ids.h"

#include <jansson.h>

struct templates {
    struct ids before, after;
    int is_stated; // The file says what stands there, if only nothing.
};

// Makes empty templates. Zeroed ones are empty too.
void templates_init(struct templates *templates);

// Frees the memory.
void templates_release(struct templates *templates);

// Reads the `post_processor` of a tokenizer.json, which may be NULL or null, into empty templates;
// messages use `name` for the file. A kind that is not known is refused by name. The caller
// releases the templates, after a failure too.
tapml_status templates_read(struct templates *templates,
                            const char *name,
                            const json_t *post_processor) STATUS_USED;
