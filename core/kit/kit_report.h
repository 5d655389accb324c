// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the checks of a plugin came to, as people and other programs read it.
//
// One thread. TAPML_NO_MEMORY is the one failure of what makes a document.
#pragma once

#include "base/text.h"
#include "kit/kit_check.h"

#include <jansson.h>

// A check that was made. Texts are borrowed.
struct kit_item {
    const struct kit_check *check;
    const char *component; // Or "", of a check of the file or the plugin.
    struct kit_result result;
    uint64_t time_ns;
};

// The head of a document. Texts are borrowed.
struct kit_head {
    const char *plugin; // Id, or the path where it cannot be read.
    const char *build_id;
    const char *path;
    const char *device; // Or "".
    uint32_t minor;
    uint64_t seed;
};

// The document, of which the other forms are views. The caller owns it.
tapml_status kit_report_create(const struct kit_head *head,
                               const struct kit_item *items,
                               size_t count,
                               json_t **out_document) STATUS_USED;

// A line for a terminal, while the checks are made: the outcome, the id, and the reason or the
// rule.
void kit_report_line(const struct kit_item *item, struct text *out);

// The last line: how many had which outcome.
void kit_report_summary(const json_t *document, struct text *out);

// As the Test Anything Protocol, version 13, and as JUnit's XML.
void kit_report_tap(const json_t *document, struct text *out);
void kit_report_junit(const json_t *document, struct text *out);
