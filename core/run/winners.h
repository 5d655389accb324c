// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The settings that `tapml-host tune` has found for the devices of this user, on their way to a
// place: which are given to it, and how it is said that they are in use.
//
// One thread.
#pragma once

#include "base/text.h"
#include "exec/place.h"

struct registry;

enum { WINNERS_TEXT = 256 };

// The winners for the component of a place, "PLUGIN/COMPONENT:DEVICE" or less, in `arena`: the
// device takes those that are for it. TAPML_NO_MEMORY alone; what cannot be read is no winner.
tapml_status winners_find(const char *backend,
                          struct arena *arena,
                          struct tuned_settings *out_settings) STATUS_USED;

// How many settings of a place are for its device; and a sentence of them for people: "settings of
// 'tapml-host tune' are used: linear 3, attention 1". "" if there are none.
size_t
winners_print(const struct place *place, struct registry *registry, char out_text[WINNERS_TEXT]);
