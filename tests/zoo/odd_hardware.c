// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its manifest asks for a device by a pattern that is none.
#include "zoo.h"
