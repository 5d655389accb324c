// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Pairing as people do it, on the command lines of tapml-host and tapml-worker (remote/pairing.h):
// prints the code and reads the answer from the standard input.
#pragma once

#include "base/status.h"

// Pairs with the machine at `url`, which waits. `name` is the peer's, or NULL.
tapml_status pair_call(const char *url, const char *name) STATUS_USED;

// Waits for a machine at HOST:PORT. `caller` is the command that the other machine pairs by, for
// the line that tells the port.
tapml_status pair_wait(const char *address, const char *name, const char *caller) STATUS_USED;

// As a worker's machine does it: calls what is a URL, and waits for a host at what is HOST:PORT.
tapml_status pair_either(const char *where, const char *name) STATUS_USED;

// Prints the own key and the peers.
tapml_status pair_list(void) STATUS_USED;
tapml_status pair_remove(const char *name) STATUS_USED;
