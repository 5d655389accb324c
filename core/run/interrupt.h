// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// SIGINT and SIGTERM, and a checkpoint that was cut: the work ends after the step in hand.
#pragma once

#include "base/status.h"

// From now on the signals are taken note of. A second one ends the program at once.
void interrupt_watch(void);

// TAPML_CANCELLED once a signal came, with a message that says how to go on; TAPML_INVALID once a
// file that is mapped became shorter.
tapml_status interrupt_check(void) STATUS_USED;
