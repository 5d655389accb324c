// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Bundles and packs that were found, as JSON and as a table: docs/packs.md describes both.
//
// One thread. Failures are TAPML_NO_MEMORY.
#pragma once

#include "run/bundle_search.h"

#include <jansson.h>

// An array with an object for each: file, id, kind, cases, the tags with all their values, and what
// its cases had run on. The caller owns it (json_decref).
tapml_status found_bundles_make(const struct bundle_search *search, json_t **out_items) STATUS_USED;

// Prints a line for each to the standard output; of several values of a tag the first one, and how
// many there are besides.
void found_bundles_print(const json_t *items);
