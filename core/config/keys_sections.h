// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The sections of a run's INI file, in the order of the manual: a part of the table of
// config/keys.h.
//
// Constant: any thread may read them.
#pragma once

#include "config/key_table.h"

enum { KEYS_SECTIONS = 17 };

extern const struct key_section keys_sections[KEYS_SECTIONS];

// The form of the file, in sentences.
extern const char keys_sections_about[];
