// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>
#include <tapml/host.h>

// Makes the root object of the component. `host` outlives it.
tapml_status device_root_new(const tapml_host *host, tapml_call *call, tapml_object **out_root);
