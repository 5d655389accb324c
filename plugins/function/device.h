// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/memory/backend.h>

// Makes the root of the component: one device in ordinary memory. Its one op is computed by the
// function that the options name; without the option `library` it has none. TAPML_INVALID where an
// option, the library or the function is not as expected.
tapml_status device_create(const tapml_host *host, tapml_call *call, tapml_object **out_root);
