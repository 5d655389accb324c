// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a fault does to the process before a call or a write: lets it wait, as a slow device does,
// ends it, stops it, or takes its memory.
#pragma once

#include "verify/fault_rule.h"

// Does what the kind of a rule says, and nothing for other kinds. Some kinds do not return; of
// those that take memory, TAPML_NO_MEMORY.
tapml_status fault_process_strike(const struct fault_rule *rule) STATUS_USED;
