// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The table of an encoding (tapml/draft/encoding.h): whether it is one.
//
// Pure; any thread.
#pragma once

#include "base/status.h"

#include <tapml/draft/encoding.h>

enum { ENCODING_TABLE_WORD_MAX = 31, ENCODING_TABLE_ID_MAX = 95 };

// TAPML_ABI_MISMATCH says what is missing, or has a value that no encoding may have.
tapml_status encoding_table_check(const tapml_weight_encoding *table) STATUS_USED;
