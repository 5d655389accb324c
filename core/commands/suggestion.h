// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a user may have meant by a first word that is no command.
#pragma once

#include "base/status.h"

// TAPML_INVALID, with a sentence: for a file or folder, or a name that ends like one, the command
// that takes it; else the nearest command, or option where `word` begins with a dash.
tapml_status suggestion_fail(const char *word) STATUS_USED;
