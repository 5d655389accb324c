// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The worker process: one plugin, served over a socket. What tapml-worker is made of.
#pragma once

#include "run/outcome.h"

// Serves the other end of `socket` until it is closed. Between the plugin and the link stands the
// fault injector, where the settings have any.
enum outcome worker_serve(int socket);

// Probes the components of a plugin (all, where `component` is NULL), and prints a line each, and
// what their devices and ops are: fields separated by tabs. `plugin` is the path of a manifest, or
// of a library, which has its own.
enum outcome worker_probe(const char *plugin, const char *component);
