// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Has a note and no function to ask.
#include <tapml/plugin.h>

#include ZOO_NOTE
