// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Says that its devices calibrate: what others of the zoo should compute is what it does.
#include "zoo.h"
