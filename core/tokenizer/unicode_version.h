// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The versions of Unicode that Hugging Face's tokenizers has, where they show. Its classes of
// punctuation, marks and formats are those of Unicode 8, its normal forms those of Unicode 9, its
// numbers and lower case those of Unicode 17; utf8proc has one version for all. Measured on every
// character with tokenizers 0.23.1. [any]
#pragma once

#include <stdint.h>

enum unicode_version_class {
    UNICODE_VERSION_NONSPACING,  // General category Mn, of Unicode 8
    UNICODE_VERSION_FORMAT,      // Cf, of Unicode 8
    UNICODE_VERSION_PUNCTUATION, // P, of Unicode 8
    UNICODE_VERSION_MARK,        // M, of Unicode 9
    UNICODE_VERSION_FORM,        // What a normal form changes or moves, of Unicode 9
};

// Whether `code` came into the class later.
int unicode_version_is_late(enum unicode_version_class class, uint32_t code);

// Whether `code` was in the class, and is not in it now.
int unicode_version_is_former(enum unicode_version_class class, uint32_t code);

// Whether `code` is a number of Unicode 16 or 17.
int unicode_version_is_new_number(uint32_t code);

// The lower case of a capital letter of Unicode 16 or 17; of another character that itself.
uint32_t unicode_version_new_lower(uint32_t code);
