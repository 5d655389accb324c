// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>

// `interface_of` of all devices of this plugin: tapml.identity/1, digests of the sources of each
// op.
const void *identity_interface(tapml_object *device, const char *id);
