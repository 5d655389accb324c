// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>

// tapml.identity/1 of all devices of this plugin: digests of the sources of each op.
extern const tapml_identity identity_table;
