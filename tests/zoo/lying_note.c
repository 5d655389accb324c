// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its note gives it another id than its code.
#define ZOO_ID "org.example.someone-else"
#include "zoo.h"
