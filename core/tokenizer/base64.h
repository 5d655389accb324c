// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Base64 (RFC 4648, section 4).
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

// Appends the bytes of `length` characters. TAPML_INVALID for any other character and for a wrong
// length.
tapml_status base64_read(const char *encoded, size_t length, struct text *out) STATUS_USED;
