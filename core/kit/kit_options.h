// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The options of components that a check is made with, as [component.ID] of a run has them.
//
// One thread.
#pragma once

#include "plugin/manifest.h"

// Makes `*out_ini` of words such as "platform=1", ended by NULL or NULL itself: an entry for each
// component whose manifest declares the key, of all of them or of `component` alone. A later word
// of the same key counts. TAPML_INVALID for a word without '=', and for a key that none declares,
// with those that are declared and the nearest one. The caller releases the result by ini_release.
tapml_status kit_options_read(const struct manifest *manifest,
                              const char *component,
                              const char *const *words,
                              struct ini *out_ini) STATUS_USED;
