// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Statements: from the tokens of a whole template to a tree.
#pragma once

#include "template/cursor.h"

// Reads everything up to the end into the bodies of one node. Statements that are not of the subset
// are refused by name.
tapml_status statement_reader_read(struct cursor *cursor, struct syntax **out_root) STATUS_USED;
