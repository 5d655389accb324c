// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op goes to another folder.
#include "deeds.h"

#define ZOO_OP_DEED() deed_change_folder()
#include "zoo.h"
