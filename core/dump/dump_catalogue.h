// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops of this version of TapML, without any plugin: what a map of a dump may name.
#pragma once

#include "base/status.h"

struct catalogue;

// The caller destroys the catalogue (schema/catalogue.h).
tapml_status dump_catalogue_create(struct catalogue **out_catalogue) STATUS_USED;
