// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The cases of a run as a dump: what the source has computed for its first prompt.
#pragma once

#include "base/status.h"

struct dump;

// Adds the outputs of the kept cases of the first prompt's first call of each instance, in the
// order of the run. A tensor has the name of its instance; where an op has several outputs, with
// "/PARAMETER" behind it. Sources are the names of instances. Fails as reading the store does.
tapml_status recorded_add(struct dump *dump, const char *store_path) STATUS_USED;
