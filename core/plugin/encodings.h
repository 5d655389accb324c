// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Encodings that plugins bring (tapml/draft/encoding.h): all that a registry has become known to
// tensor/encoding, and so to whatever reads or writes weights.
//
// One thread, while no other one uses encodings. They are taken back before the registry ends.
#pragma once

#include "plugin/registry.h"
#include "tensor/encoding.h"

struct plugin_encodings {
    const tapml_encoding *items[ENCODING_ADDED_MAX];
    size_t count;
};

// Adds those of all usable components. One whose id or word another encoding has, or whose id does
// not begin with that of its plugin, is logged and left out.
void encodings_add(struct registry *registry, struct plugin_encodings *out_encodings);
void encodings_remove(struct plugin_encodings *encodings); // Accepts zeros.
