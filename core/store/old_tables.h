// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tables of stores of earlier versions, as the hosts of their time made them. They are frozen:
// a store whose tables are others was not written by such a host. Of versions behind the last of
// these, store/schema.h knows which tables they lack.
#pragma once

#include <stdint.h>

enum { OLD_TABLES_LAST = 3 };

// The statements that make the tables of `version`, one behind the other: a static text. NULL if
// they are not here. Any thread may ask.
const char *old_tables_find(int64_t version);
