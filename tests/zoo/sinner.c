// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Does what sins.h says of the one name that it is compiled with.
#define ZOO_SIN
#if defined(SIN_KEEPS_ARGUMENTS) || defined(SIN_LAUNCHES_EARLY)
#define ZOO_OP_FILE "zoo_launched.h"
#elif defined(SIN_SHOWS_THE_BEGIN)
#define ZOO_MEMORY_TRAITS TAPML_MEMORY_HOST_VISIBLE
#elif defined(SIN_ENDS_MEET)
#define ZOO_MAX_BYTES (64 << 20)
#endif

// A patch of a table stands behind what it replaces.
#pragma GCC diagnostic ignored "-Woverride-init"
#include "zoo.h"
