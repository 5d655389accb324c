// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_form.h"

#include <string.h>

static const char *const words[DELTA_KINDS] = {"xor", "sparse", "24q2", "24q4"};

const char *delta_form_word(enum delta_kind kind)
{
    return words[kind];
}

enum delta_kind delta_form_find(const char *word)
{
    int kind = 0;
    while (kind < DELTA_KINDS && strcmp(words[kind], word) != 0) {
        ++kind;
    }
    return (enum delta_kind)kind;
}
