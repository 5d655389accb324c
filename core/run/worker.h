// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The worker process: one plugin, served over a socket. What tapml-worker is made of.
#pragma once

#include "run/outcome.h"

// Serves the other end of `socket` until it is closed. Between the plugin and the link stands the
// fault injector, where the settings have any.
enum outcome worker_serve(int socket);

// What is asked of a plugin.
struct worker_question {
    const char *plugin; // The path of a manifest, or of a library, which has its own.

    // NULL: all components and their first devices; "COMPONENT"; "COMPONENT:DEVICE", of which
    // limits and ops are; or "COMPONENT:". With a colon, what is expensive to list (`devices =
    // on-use`) is listed too.
    const char *component;
    const char *const *options; // Of that component, "KEY=VALUE", ended by NULL.
};

// Probes a plugin and prints lines of fields with tabs between. What the plugin itself prints goes
// to the error stream.
//
//   component  ID  STATE  SENTENCE
//   remark     ID  TEXT                                               what it changed of the
//   process device     ID  DEVICE  NAME  DRIVER  MEMORY-BYTES  BUFFER-BYTES   0: unknown, without
//   limit limits     ID  DEVICE  BINDINGS  ALIGN  GROUP-ITEMS  SHARED-BYTES  GRID  HALF   of
//   tapml_limits op         ID  NAME  VERSION                                      of one device
//   failed     ID  SENTENCE                                           that device cannot be opened
//   end        ID                                                     all of it was printed
enum outcome worker_probe(const struct worker_question *question);
