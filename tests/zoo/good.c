// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Nothing is wrong with this one: the others are measured against it.
#include "zoo.h"
