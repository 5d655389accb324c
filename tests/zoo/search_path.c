// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Nothing is wrong with its code; it is linked with a search path of its own.
#include "zoo.h"
