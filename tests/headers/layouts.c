// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Compiles only if the headers have the layout of each minor that is recorded: sdk/abi/README.md.
// Includes are in the order in which the records need them.
// clang-format off
#include <tapml/backend.h>
#include <tapml/host.h>
#include <tapml/model.h>
#include <tapml/plugin.h>

#include "../../sdk/abi/layout-1.0.h"
#include "../../sdk/abi/layout-1.1.h"
#include "../../sdk/abi/layout-1.2.h"
#include "../../sdk/abi/layout-1.3.h"
#include "../../sdk/abi/layout-1.4.h"
#include "../../sdk/abi/layout-1.9.h"
#include "../../sdk/abi/layout-1.10.h"
