// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Observers of plugins (tapml/draft/observer.h) as one wrapper of a place: each call goes through
// them, which may replace what it computes, and may make it themselves.
//
// A failure of an observer is no operator's: the call, and each later one of the place, is
// TAPML_DEVICE_LOST with the sentence and the name of the observer, by which the place is given up.
// TAPML_NO_MEMORY and TAPML_CANCELLED stay what they are, and so does a failure of the device that
// comes out while the observer reads or writes. Results of a place with an observer that
// replaces depend on its library and its options (`backend_identity`).
//
// One thread, that of the inner backend, whose failures are returned.
#pragma once

#include "exec/place.h"
#include "plugin/registry.h"

struct text;

// The link for a place whose settings name observers. Opening it fails as registry_get does, with
// TAPML_INVALID also if an observer is named twice or there are more than OBSERVERS_MAX.
enum { OBSERVERS_MAX = 16 };
struct place_link observers_link(struct registry *registry);

// Appends what the observers of a place are, "org.example.tally/tally 0.1.0", with ", " between;
// with `replacing_only` those alone that may replace what is computed. `names` is the setting of
// the place, or NULL: none. Fails as opening the link does.
tapml_status observers_print(struct registry *registry,
                             const char *names,
                             int replacing_only,
                             struct text *out) STATUS_USED;
