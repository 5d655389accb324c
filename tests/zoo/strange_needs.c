// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Needs an interface that this host lacks.
#include <stddef.h>

static const char *const needs[] = {"org.example.host.magic/1", NULL};
#define ZOO_NEEDS needs
#include "zoo.h"
